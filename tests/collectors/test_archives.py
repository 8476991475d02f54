"""Archives are opened in bounds; what is hostile is refused by name and the rest is still read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from collectors.archives import Limits, Opened, expand, list_files

LINE = b"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"


def read(name: str, data: bytes, limits: Limits | None = None) -> tuple[dict[str, bytes], Opened]:
    opened = Opened()
    return {inner: stream.read() for inner, stream in expand(name, io.BytesIO(data), opened, limits)}, opened


def make_tar(members: dict[str, bytes], **special: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in special.values():
            archive.addfile(info)
    return buffer.getvalue()


def make_zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def compress_zstandard(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize(
    ("name", "data", "inner"),
    [
        ("a.log", LINE, "a.log"),
        ("a.log.gz", gzip.compress(LINE), "a.log.gz"),
        ("a.log.bz2", bz2.compress(LINE), "a.log.bz2"),
        ("a.log.xz", lzma.compress(LINE), "a.log.xz"),
        ("a.log.zst", compress_zstandard(LINE), "a.log.zst"),
        ("a.zip", make_zip({"dir/b.log": LINE}), "a.zip/dir/b.log"),
        ("a.tar", make_tar({"dir/b.log": LINE}), "a.tar/dir/b.log"),
        ("a.tgz", gzip.compress(make_tar({"b.log.gz": gzip.compress(LINE)})), "a.tgz/b.log.gz"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_form_is_opened(name: str, data: bytes, inner: str) -> None:
    found, opened = read(name, data)
    assert found == {inner: LINE}
    assert opened.refused == []


def test_nesting_is_bounded() -> None:
    data = LINE
    for _ in range(6):
        data = gzip.compress(data)
    found, opened = read("a.gz", data)
    assert found == {}
    assert "more than 4 deep" in opened.refused[0][1]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, compress_zstandard])
def test_a_bomb_stops_at_the_limit(compress: object) -> None:
    data = compress(b"\0" * (8 << 20))  # type: ignore[operator]
    found, opened = read("bomb", data, Limits(member=1 << 20))
    assert sum(len(text) for text in found.values()) == 1 << 20
    assert any("larger than the limit" in reason for _, reason in opened.refused)


def test_links_devices_and_paths_that_leave_are_refused_and_the_rest_is_read() -> None:
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device = tarfile.TarInfo("device")
    device.type = tarfile.CHRTYPE
    data = make_tar({"../up.log": LINE, "/abs.log": LINE, "good.log": LINE}, link=link, device=device)
    found, opened = read("a.tar", data)
    assert found == {"a.tar/good.log": LINE}
    assert [reason for _, reason in opened.refused] == [
        "a path that leaves the archive",
        "a path that leaves the archive",
        "a link or device, not a file",
        "a link or device, not a file",
    ]


def test_a_zip_with_a_path_that_leaves_is_read_without_it() -> None:
    found, opened = read("a.zip", make_zip({"../x": LINE, "y": LINE}))
    assert found == {"a.zip/y": LINE}
    assert opened.refused == [("a.zip/x", "a path that leaves the archive")]


def test_thousands_of_members_are_bounded() -> None:
    found, opened = read("a.tar", make_tar({f"f{number}": LINE for number in range(60)}), Limits(members=50))
    assert len(found) == 50
    assert "more than 50 members" in opened.refused[0][1]


@pytest.mark.parametrize("cut", [30, 200, 600])
def test_a_truncated_archive_gives_what_is_there(cut: int) -> None:
    whole = gzip.compress(b"".join(b"line %d\n" % number for number in range(2000)))
    found, opened = read("a.gz", whole[: len(whole) - cut])
    assert set(found) == {"a.gz"}
    assert opened.refused


def test_a_folder_is_listed_in_order_without_its_links(tmp_path: Path) -> None:
    (tmp_path / "b.log").write_bytes(LINE)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "c.log.gz").write_bytes(gzip.compress(LINE))
    (tmp_path / "link").symlink_to("/etc/passwd")
    opened = Opened()
    names = [path.relative_to(tmp_path).as_posix() for path in list_files(tmp_path, opened)]
    assert names == ["a/c.log.gz", "b.log"]
    assert opened.refused[0][1] == "a link, not a file"


def test_a_member_without_a_name_is_read() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x", LINE)
    data = bytearray(packed.getvalue())
    for head, length in ((data.index(b"PK\x03\x04"), 26), (data.index(b"PK\x01\x02"), 28)):
        data[head + length], data[head + length + 2] = 0, 1  # the name's only byte counts as an extra field
    found, _ = read("a.zip", bytes(data))
    assert found == {"a.zip/member": LINE}


def test_names_of_members_lose_control_characters() -> None:
    found, _ = read("a.tar", make_tar({"x\x1b[31m.log": LINE}))
    assert list(found) == ["a.tar/x\ufffd[31m.log"]
