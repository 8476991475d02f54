"""Sample incidents that the page offers: those of the wheel, or of the checkout."""

from __future__ import annotations

from pathlib import Path

from collectors.ingest import Input, text_input

SAMPLE = "link-flap-hidden-behind-nccl-timeout"


def sample_folder(name: str = SAMPLE) -> Path | None:
    """Return the folder of a sample, None when it is not there."""
    here = Path(__file__).resolve().parent
    folders = (here / "_incidents" / name, here.parent / "fixtures" / "incidents" / name)
    return next((folder for folder in folders if folder.is_dir()), None)


def sample_inputs(folder: Path) -> list[Input]:
    """Return the inputs of a sample; `case.yaml` is its answer, not an input."""
    paths = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "case.yaml")
    return [text_input(path.name, path.read_bytes()) for path in paths]
