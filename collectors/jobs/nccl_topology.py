"""NCCL's topology file: what NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE is given.

NCCL 2.4 to 2.30 and clouds that deliver such files; documented in NCCL's user guide, "NCCL_TOPO_FILE", written by `src/graph/xml.cc`.
Tags nest: system, cpu, pci (bridges and devices), gpu with its nvlinks, nic with its nets. `link_width` is what device and slot
can do, not what they run at. Sample::

    <system version="1">
      <cpu numaid="0" affinity="00000000,0000ffff" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">
        <pci busid="0000:07:00.0" class="0x030200" vendor="0x10de" device="0x20b0" link_speed="16.0 GT/s PCIe" link_width="16">
          <gpu dev="0" sm="80" rank="0" gdr="1">
            <nvlink target="0000:c4:00.0" count="12" tclass="0x068000"/>
          </gpu>
        </pci>
        <nic>
          <net name="mlx5_0" dev="0" speed="200000" port="1" guid="0x5e0e4c0003723f0c" maxconn="131072" gdr="1"/>
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.block import Reader
from collectors.identity import normalise_pci
from collectors.observation import Observation, Record, Relation, Sample
from collectors.regex import compile_later

SOURCE = "nccl-topology"
LAYERS = ("framework",)
SIGNATURES = (r"^\s*<(?:system version=|cpu numaid=|pci busid=\"|nvlink target=\"|net name=\")",)
HEADS = (r"^\s*<system version=\"\d+\"",)

_TAG = compile_later(r"^\s*<(?P<close>/)?(?P<name>\w+)(?P<rest>[^>]*)>")
_ATTRIBUTE = compile_later(r"(\w+)=\"([^\"]*)\"")


def parse_block(reader: Reader) -> Iterator[Record]:
    """Yield `topology-gpu` (attributes rank, gdr, nvlinks) and `topology-net` (nic, mbps, gdr), and which rank has which GPU."""
    pci, gpu, place, nvlinks = "", {}, (0, ""), 0
    for _ in range(20_000):
        text = reader.peek()
        tag = _TAG.match(text) if text is not None else None
        if text is None or (tag is None and text.strip() and not text.lstrip().startswith(("<!--", "<?xml"))):
            return
        number = reader.number
        reader.next()
        if tag is None:
            continue
        said, name = dict(_ATTRIBUTE.findall(tag["rest"])), tag["name"]
        closed = bool(tag["close"]) or tag["rest"].endswith("/")
        if name == "system" and tag["close"]:
            return
        if name == "pci" and not tag["close"]:
            pci = normalise_pci(said.get("busid", "")) or ""
        elif name == "gpu" and not tag["close"]:
            gpu, place, nvlinks = said | {"pci": pci}, (number, text.strip()), 0
        elif name == "nvlink" and said.get("count", "").isdecimal():
            nvlinks += int(said["count"][:18])
        elif name == "net" and said.get("name"):
            yield _tell_net(reader, number, text, said)
        if name == "gpu" and closed and gpu:
            yield from _tell_gpu(reader, place, gpu, nvlinks)
            gpu = {}


def _tell_net(reader: Reader, number: int, text: str, said: dict[str, str]) -> Observation:
    attributes = {
        "nic": said["name"],
        "mbps": said.get("speed", ""),
        "gdr": said.get("gdr", ""),
        "guid": said.get("guid", ""),
    }
    return Observation(
        SOURCE, "topology-net", reader.input, number, number, text.strip(), node=reader.node,
        entity=f"link:{said['name']}:{said.get('port', '1')}", attributes={name: value for name, value in attributes.items() if value},
    )  # fmt: skip


def _tell_gpu(reader: Reader, place: tuple[int, str], gpu: dict[str, str], nvlinks: int) -> Iterator[Record]:
    number, text = place
    attributes = {name: gpu[name] for name in ("dev", "rank", "gdr", "pci") if gpu.get(name)} | {
        "nvlinks": str(nvlinks)
    }
    entity = f"gpu:{gpu['pci']}" if gpu["pci"] else ""
    yield Observation(
        SOURCE,
        "topology-gpu",
        reader.input,
        number,
        number,
        text,
        node=reader.node,
        entity=entity,
        attributes=attributes,
    )
    yield Sample(
        SOURCE, "nccl_topology_nvlinks", float(nvlinks), reader.input, number, node=reader.node, entity=entity,
        labels={"pci": gpu["pci"]} if gpu["pci"] else {},
    )  # fmt: skip
    if entity and gpu.get("rank", "").isdecimal() and reader.node:
        yield Relation(f"rank:{gpu['rank']}", entity, "on", reader.input, number, reader.node)
