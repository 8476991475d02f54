"""The command `faultwalk`. Each subcommand imports what it needs when it runs, so that `triage` answers fast."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from api.command import collect_rarely, fail

app = typer.Typer(
    name="faultwalk",
    help="Name the root cause of a GPU cluster incident from its logs, with the lines that prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
rules_app = typer.Typer(help="Look at the rules and check your own.", no_args_is_help=True)
app.add_typer(rules_app, name="rules")
cases_app = typer.Typer(help="Look at past incidents.", no_args_is_help=True)
app.add_typer(cases_app, name="cases")

RulesOption = Annotated[
    Path | None, typer.Option("--rules", metavar="DIR", help="Rules that add to or override the shipped ones.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress on standard error.")]
LanguageOption = Annotated[str, typer.Option("--lang", help="Language of the report: en or zh.")]


def _language(value: str) -> str:
    if value not in ("en", "zh"):
        raise fail(f"--lang {value}: expected en or zh")
    return value


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"faultwalk {version('faultwalk')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the command itself."""


@app.command()
def triage(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE... | -]", help="Files to read; - is standard input.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the report as Markdown.")] = False,
    language: LanguageOption = "en",
    rules: RulesOption = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DB", help="Keep the observations in this DuckDB file.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", help="Look at nothing before this time (ISO 8601).")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Look at nothing after this time (ISO 8601).")] = None,
    symptom: Annotated[
        list[str] | None, typer.Option("--symptom", metavar="ID", help="A symptom that you see (see `rules list`).")
    ] = None,
    node: Annotated[
        list[str] | None, typer.Option("--node", help="Look only at this host and at what names no host.")
    ] = None,
    job: Annotated[
        list[str] | None, typer.Option("--job", help="Look only at the hosts that this job runs on, and at itself.")
    ] = None,
    namespace: Annotated[
        list[str] | None,
        typer.Option("--namespace", help="Look only at this namespace's pods and jobs and their hosts."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Diagnose logs: name the root cause, with its evidence, what it explains and what to do next."""
    import_module("api.triage").run(
        files or ["-"],
        as_json=as_json,
        as_markdown=as_markdown,
        language=_language(language),
        rules=rules,
        store=store,
        since=since,
        until=until,
        symptoms=symptom or [],
        nodes=node or [],
        jobs=job or [],
        namespaces=namespace or [],
        quiet=quiet,
    )


@app.command()
def sweep(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders and archives to read.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the incidents as JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the incidents as a Markdown table.")] = False,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="Write the incidents to this Parquet file, too.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DB", help="Keep the observations in this DuckDB file.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", help="Look at nothing before this time (ISO 8601).")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Look at nothing after this time (ISO 8601).")] = None,
    node: Annotated[list[str] | None, typer.Option("--node", help="List only incidents of this host.")] = None,
    gap: Annotated[
        float, typer.Option("--gap", metavar="MINUTES", min=0.0, help="Signs further apart are two incidents.")
    ] = 40.0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes that read files: as many as cores.")
    ] = None,
    quiet: QuietOption = False,
    language: LanguageOption = "en",
    rules: RulesOption = None,
) -> None:
    """Find the incidents in a fleet's logs: one table, grouped by node and time, the surest and widest first."""
    import_module("api.sweep").run(
        paths,
        as_json=as_json,
        as_markdown=as_markdown,
        language=_language(language),
        rules=rules,
        store=store,
        parquet=parquet,
        since=since,
        until=until,
        nodes=node or [],
        gap=gap,
        jobs=jobs,
        quiet=quiet,
    )


@app.command()
def gather(
    symptom: Annotated[
        list[str] | None, typer.Option("--symptom", metavar="ID", help="Run only the checks of causes that lead to it.")
    ] = None,
    node: Annotated[bool, typer.Option("--node", help="Only what concerns this host.")] = False,
    cluster: Annotated[bool, typer.Option("--cluster", help="Only what the cluster's own tools tell.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.tar.gz", help="Where to write what was gathered.")
    ] = None,
    script: Annotated[
        bool, typer.Option("--script", help="Print a shell script that does the same without Python.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the commands.")] = False,
    quiet: QuietOption = False,
    rules: RulesOption = None,
) -> None:
    """Run read-only commands on this host or against the cluster and pack what they print for `triage`."""
    import_module("api.gather").run(
        symptoms=symptom or [],
        node=node,
        cluster=cluster,
        output=output,
        script=script,
        dry_run=dry_run,
        quiet=quiet,
        rules=rules,
    )


@rules_app.command("check")
def rules_check(
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="A folder of your own rules.")] = None,
) -> None:
    """Check the shipped rules, or a folder of your own on top of them; name file and line of every problem."""
    import_module("api.rules").check(folder)


@rules_app.command("list")
def rules_list(rules: RulesOption = None, language: LanguageOption = "en") -> None:
    """List causes and symptoms that have a rule."""
    import_module("api.rules").list_rules(rules, _language(language))


@rules_app.command("show")
def rules_show(
    name: Annotated[str, typer.Argument(metavar="ID")], rules: RulesOption = None, language: LanguageOption = "en"
) -> None:
    """Show one rule: its evidence with examples, consequences, checks and references."""
    import_module("api.rules").show(name, rules, _language(language))


@app.command()
def explain(
    name: Annotated[
        str,
        typer.Argument(
            metavar="CAUSE|SYMPTOM|KIND:CODE",
            help="For example gpu.fell-off-bus, nccl-hang, xid:79, sxid:20034, DCGM_FR_NVLINK_DOWN, cuda:802 or nvml:999.",
        ),
    ],
    line: Annotated[str, typer.Argument(metavar="[LINE]", help="The log line with the code, to be decoded.")] = "",
    rules: RulesOption = None,
    language: LanguageOption = "en",
) -> None:
    """Explain a cause, a symptom or a code: what it means, how it is told, what to do."""
    import_module("api.explain").run(name, line, rules, _language(language))


CasesOption = Annotated[Path | None, typer.Option("--cases", metavar="DIR", help="A folder with cases of your own.")]


@cases_app.command("list")
def cases_list(
    query: Annotated[str | None, typer.Argument(metavar="[WORDS]", help="Words to search for.")] = None,
    cases: CasesOption = None,
    language: LanguageOption = "en",
) -> None:
    """List past incidents, all or those that match some words."""
    import_module("api.cases").list_cases(query, cases, _language(language))


@cases_app.command("show")
def cases_show(
    name: Annotated[str, typer.Argument(metavar="ID")], cases: CasesOption = None, language: LanguageOption = "en"
) -> None:
    """Show one past incident."""
    import_module("api.cases").show(name, cases, _language(language))


@app.command()
def score(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folders with inputs and a case.yaml each.")],
    rules: RulesOption = None,
) -> None:
    """Measure the rules on cases with known answers."""
    import_module("api.score").run(folder, rules)


@app.command()
def serve(
    host: Annotated[
        str | None, typer.Option("--host", help="Address to listen on: 127.0.0.1, unless there is a token.")
    ] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on: 8080 by default.")] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DB", help="DuckDB file to keep evidence and reports in.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", metavar="FILE", help="File with the token that requests must carry.")
    ] = None,
    rules: RulesOption = None,
) -> None:
    """Answer over HTTP, with a page to paste into; FAULTWALK_* variables set what has no option here."""
    import_module("api.serve").run(host=host, port=port, store=store, token_file=token_file, rules=rules)


def main() -> None:
    """Run the command; an interrupt ends it quietly."""
    collect_rarely()
    try:
        app()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
