"""Settings of the service: `FAULTWALK_*` variables, overridden by the command line. Made in the command, never at import."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from collectors.archives import Limits

SHORTEST_TOKEN = 16


class SettingsError(Exception):
    """The settings don't allow a safe start; the message says which and what to do."""


class Settings(BaseSettings):
    """What an operator can choose. Every field is also a variable: `FAULTWALK_PORT=9000`."""

    model_config = SettingsConfigDict(env_prefix="FAULTWALK_", extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=1, le=65535)
    store: Path | None = Field(default=None, description="DuckDB file; without it everything is kept in memory.")
    token: SecretStr | None = Field(default=None, description="Bearer token that every request has to carry.")
    rules: Path | None = Field(default=None, description="Folder of own rules on top of the shipped ones.")
    public_url: str = Field(default="", description="Where people reach this service; stands in answers to alerts.")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Further host names, joined by commas, that requests may name while there is no token."
    )
    most_body: int = Field(default=32 << 20, ge=1024, description="Bytes of a request's body, also when unpacked.")
    most_files: int = Field(default=64, ge=1, le=1000, description="Files of one upload or inputs of one request.")
    most_unpacked: int = Field(
        default=256 << 20, ge=1024, description="Bytes that the archives of one request may hold, all members together."
    )
    most_members: int = Field(default=2000, ge=1, description="Members of the archives of one request.")
    most_depth: int = Field(default=3, ge=1, le=16, description="Archives within archives.")
    body_seconds: float = Field(default=60.0, gt=0, description="Time in which a body has to arrive.")
    header_seconds: float = Field(default=10.0, gt=0, description="Time in which the head of a request has to arrive.")
    at_once: int = Field(default=2, ge=1, le=64, description="Diagnoses that run at the same time.")
    waiting: int = Field(default=16, ge=0, description="Requests that may wait for a turn; more are answered with 503.")
    waiting_seconds: float = Field(default=20.0, gt=0, description="How long a request waits for its turn.")
    most_groups: int = Field(default=16, ge=1, description="Diagnoses for one alert notification.")
    keep_reports: int = Field(default=10_000, ge=1, description="Newest reports that are kept.")
    keep_notifications: int = Field(default=1_000, ge=1, description="Newest answers to alerts that are kept.")

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @property
    def is_loopback(self) -> bool:
        """Tell whether only this machine can reach the address."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    def limits(self) -> Limits:
        """Return how much is unpacked for one request."""
        return Limits(self.most_unpacked, self.most_unpacked, self.most_members, self.most_depth)

    def check(self) -> Settings:
        """Return the settings; raises SettingsError when they would open the service to others without a token."""
        if self.token is not None and len(self.token.get_secret_value()) < SHORTEST_TOKEN:
            raise SettingsError(f"the token is too short: expected at least {SHORTEST_TOKEN} characters")
        if self.token is None and not self.is_loopback:
            raise SettingsError(
                f"--host {self.host} can be reached from other machines, and there is no token: name a file that holds "
                "one with --token-file (`openssl rand -hex 32` makes one), or listen on 127.0.0.1"
            )
        return self


def read_token(path: Path) -> SecretStr:
    """Return the token that a file holds. Raises SettingsError."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: the token can't be read ({type(error).__name__})") from error
    if not text.isascii() or not text.isprintable() or " " in text:
        raise SettingsError(f"{path}: expected one token of printable ASCII characters without blanks")
    return SecretStr(text)


def default_store() -> Path:
    """Return where the store lies when nobody names one: `$XDG_STATE_HOME/faultwalk/faultwalk.duckdb`."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "faultwalk" / "faultwalk.duckdb"
