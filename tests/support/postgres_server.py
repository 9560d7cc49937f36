"""A PostgreSQL server for the length of a test run: on loopback alone, a free port, in a folder that is removed."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD = "s3cret-loop"


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl: on the PATH, or where Debian puts them; None if there is none."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


def unprivileged() -> dict[str, object]:
    """Who runs the server: PostgreSQL refuses root."""
    if os.getuid() != 0:
        return {}
    user = next(pwd.getpwnam(name) for name in ("postgres", "nobody") if name in {p.pw_name for p in pwd.getpwall()})
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a running server, with its password; the server and its data are gone afterwards."""
    folder = binaries()
    assert folder is not None, "PostgreSQL is not installed; on Debian: apt-get install postgresql"
    who = unprivileged()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp", ignore_cleanup_errors=True) as home:
        if who:
            os.chown(home, who["user"], who["group"])
        data, secret = Path(home) / "data", Path(home) / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)

        def run(program: str, *args: str) -> None:
            subprocess.run([folder / program, *args], check=True, capture_output=True, cwd=home, **who,
                           env={"LC_ALL": "C", "HOME": home})  # fmt: skip

        run(
            "initdb",
            "-D",
            str(data),
            "-U",
            "tester",
            "-A",
            "scram-sha-256",
            "--pwfile",
            str(secret),
            "-N",
            "-E",
            "UTF8",
        )
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        run("pg_ctl", "-D", str(data), "-w", "-t", "60", "-l", str(data / "log"), "-o", settings, "start")
        try:
            yield f"postgresql://tester:{PASSWORD}@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
