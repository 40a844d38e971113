"""A whole Slurm on this machine: controller, accounting with its database, three nodes whose GPUs do not exist."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from goodput_site.processes import is_alive, wait_until
from tests.site.running import descendants, free_port

NODES = {"node1": 8, "node2": 8, "node3": 4}
TYPES = {"node1": "a100", "node2": "a100", "node3": "h100"}
DATABASE = """
create database slurm_acct_db;
create user 'slurm'@'127.0.0.1' identified by 'slurmpw';
create user 'slurm'@'localhost' identified by 'slurmpw';
grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';
grant all on slurm_acct_db.* to 'slurm'@'localhost';
"""
MUNGE = Path("/run/munge")
LOCK = Path("/run/goodput-tests-slurm.lock")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class Alpha:
    """The daemons in a folder of their own, all on the loopback.

    Their local hour ends `hour_lasts` seconds after the start, at the second `hour_ends`.
    As a context: started, and at the end stopped, every process by its number.
    """

    def __init__(self, root: Path, hour_lasts: int) -> None:
        assert os.geteuid() == 0, "Slurm's daemons need root"
        self.root, self.hour_lasts, self.hour_ends = root, hour_lasts, 0
        self.ports = {name: free_port() for name in ("ctld", "dbd", "sql", *NODES)}
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {"PATH": PATH, "SLURM_CONF": str(root / "etc/slurm.conf"), "HOME": str(root)}

    def __enter__(self) -> Alpha:
        self.turn = LOCK.open("ab")
        fcntl.flock(self.turn, fcntl.LOCK_EX)  # munged has one place on a machine: another test run waits
        self.hour_ends = int(time.time()) + self.hour_lasts
        east = -self.hour_ends % 3600  # local time is so many seconds ahead of UTC: its hour is whole then
        self.environment["TZ"] = f"TST-{east // 3600:02d}:{east // 60 % 60:02d}:{east % 60:02d}"
        try:
            self._configure()
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _configure(self) -> None:
        root = self.root
        for name in ("etc", "run/db", "log", "ctld", "munge", "dev", *(f"spool/{node}" for node in NODES)):
            (root / name).mkdir(parents=True, exist_ok=True)
        told = (Path(__file__).with_name("alpha.conf")).read_text().format(root=root, **self.ports)
        (root / "etc/slurm.conf").write_text(told)
        self._write("prolog.sh", "#!/bin/sh\nsleep 2\n", 0o755)
        gres = [
            f"NodeName={node} Name=gpu Type={TYPES[node]} File={root}/dev/{node}-gpu[0-{count - 1}]"
            for node, count in NODES.items()
        ]
        self._write("gres.conf", "\n".join(gres) + "\n")
        self._write("slurmdbd.conf", self._dbd(), 0o600)
        # nothing is put into control groups; by default slurmd looks for them and ends where there are none
        self._write("cgroup.conf", f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={root}/cgroup\n")
        for node, count in NODES.items():
            for number in range(count):
                os.mknod(root / f"dev/{node}-gpu{number}", 0o666 | 0o020000, os.makedev(1, 3))
        (root / "munge/munge.key").write_bytes(os.urandom(128))

    def _write(self, name: str, text: str, mode: int = 0o644) -> None:
        (self.root / "etc" / name).write_text(text)
        (self.root / "etc" / name).chmod(mode)

    def _dbd(self) -> str:
        told = {
            "AuthType": "auth/munge", "DbdHost": "ctl", "DbdAddr": "127.0.0.1", "DbdPort": self.ports["dbd"],
            "SlurmUser": "root", "StorageType": "accounting_storage/mysql", "StorageHost": "127.0.0.1",
            "StoragePort": self.ports["sql"], "StorageUser": "slurm", "StoragePass": "slurmpw",
            "StorageLoc": "slurm_acct_db", "LogFile": self.root / "log/slurmdbd.log",
            "PidFile": self.root / "run/slurmdbd.pid",
        }  # fmt: skip
        return "".join(f"{name}={value}\n" for name, value in told.items())

    def _start(self) -> None:
        self._munge()
        self._database()
        self._daemon("slurmdbd", "ctl", "slurmdbd", "-D")
        self._until(lambda: self.say("sacctmgr", "-n", "list", "cluster").returncode == 0)
        for line in ("cluster alpha", "account lab1 cluster=alpha", "account lab2 cluster=alpha"):
            self.do("sacctmgr", "-i", "add", *line.split())
        for user in ("root", "daemon"):
            self.do("sacctmgr", "-i", "add", "user", user, "account=lab1,lab2", "cluster=alpha", "defaultaccount=lab1")
        self._daemon("slurmctld", "ctl", "slurmctld", "-D", "-c")
        self._until(lambda: "UP" in self.say("scontrol", "ping").stdout)
        for node in NODES:
            self.start_node(node)
        self._until(lambda: self.say("sinfo", "-h", "-N", "-p", "a100,h100", "-t", "idle").stdout.count("node") >= 3)

    def _munge(self) -> None:
        """Start munged where none answers: one that is there serves as well."""
        if self.say("munge", "-n").returncode == 0:
            return
        MUNGE.mkdir(exist_ok=True)
        for folder in (MUNGE, self.root / "munge", self.root / "munge/munge.key"):
            shutil.chown(folder, "munge", "munge")
        MUNGE.chmod(0o755)
        (self.root / "munge/munge.key").chmod(0o400)
        command = ["setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups", "munged", "-F", "--force"]
        told = ("key-file=munge.key", "seed-file=seed", "log-file=munged.log")
        more = [f"--{name}={self.root}/munge/{file}" for name, file in (each.split("=") for each in told)]
        paths = [f"--socket={MUNGE}/munge.socket.2", f"--pid-file={MUNGE}/munged.pid"]
        self._daemon("munged", "", *command, *more, *paths)
        self._until(lambda: self.say("munge", "-n").returncode == 0)

    def _database(self) -> None:
        data, socket = self.root / "mysql", self.root / "run/db/db.sock"
        data.mkdir()
        for folder in (data, socket.parent):
            shutil.chown(folder, "mysql", "mysql")
        made = ("--user=mysql", f"--datadir={data}", "--skip-test-db", "--force")  # also where no host has a name
        self.do("mariadb-install-db", *made)
        self._daemon(
            "mariadbd", "", "mariadbd", "--no-defaults", "--user=mysql", f"--datadir={data}", f"--socket={socket}",
            f"--port={self.ports['sql']}", "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=64M",
            "--skip-name-resolve", "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=0",
        )  # fmt: skip
        self._until(lambda: self.say("mariadb", "-S", str(socket), "-e", "select 1").returncode == 0)
        self.do("mariadb", "-S", str(socket), "-e", DATABASE)

    def start_node(self, node: str) -> None:
        self._daemon(node, node, "slurmd", "-D", "-N", node)

    def kill_node(self, node: str) -> None:
        """Let a machine die: its daemon, its steps and their tasks are gone at once."""
        daemon = self.daemons.pop(node)
        for pid in [daemon.pid, *self._on_machine(daemon)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        daemon.wait()

    @staticmethod
    def _on_machine(daemon: subprocess.Popen[bytes]) -> list[int]:
        """Return the processes of a node, by its host name's namespace: what watches steps before what they run."""
        found: list[tuple[bool, int]] = []
        own = os.readlink(f"/proc/{daemon.pid}/ns/uts") if is_alive(daemon.pid) else ""
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if os.readlink(folder / "ns/uts") == own and int(folder.name) != daemon.pid:
                    found.append(((folder / "comm").read_text().strip() != "slurmstepd", int(folder.name)))
        return [pid for _, pid in sorted(found)]

    def _daemon(self, name: str, host: str, *command: str) -> None:
        """Start a daemon; `host`: what its machine is to be called."""
        if host:
            command = ("unshare", "--uts", "--", "sh", "-c", f'hostname {host}; exec "$@"', host, *command)
        with (self.root / "log" / f"{name}.out").open("ab") as out:
            self.daemons[name] = subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )

    def stop(self) -> None:
        """End the daemons in the reverse order of their start, and what their jobs have left."""
        left = [pid for node in NODES if node in self.daemons for pid in self._on_machine(self.daemons[node])]
        for name in reversed(list(self.daemons)):
            daemon = self.daemons[name]
            left += descendants(daemon.pid)
            daemon.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
            daemon.kill()
            daemon.wait()
        for pid in left:
            if is_alive(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.turn.close()

    def say(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a client to its end."""
        return subprocess.run(
            command, env={**self.environment, **more}, capture_output=True, text=True, timeout=60, cwd="/"
        )

    def do(self, *command: str, **more: str) -> str:
        """Run a client that must not fail; return what it printed."""
        done = self.say(*command, **more)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def submit(self, name: str, script: str, *more: str, user: str = "root", account: str = "lab1") -> str:
        """Submit a script as a job; return its number."""
        file = self.root / f"{name}.sh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        told = ("--parsable", "-J", name, "-o", "/dev/null", "-A", account, f"--uid={user}", "-D", "/", *more)
        return self.do("sbatch", *told, str(file)).strip().partition(";")[0]

    def state(self, job: str) -> str:
        return self.do("squeue", "-h", "-t", "all", "-j", job, "-o", "%T/%r").split("\n")[0]

    def await_state(self, job: str, *states: str, seconds: float = 120) -> None:
        """Wait until a job is in one of the states (as "RUNNING/None", or only "RUNNING")."""
        wanted = tuple(states)
        assert wait_until(lambda: self.state(job).startswith(wanted), seconds, 0.3), f"{job} is {self.state(job)}"

    @staticmethod
    def _until(true: Callable[[], bool], seconds: float = 120.0) -> None:
        assert wait_until(true, seconds, 0.1), "a daemon of Slurm did not come up"

    def logs(self) -> str:
        """Return the ends of the logs, for a test that failed."""
        told = []
        for file in sorted((self.root / "log").glob("*")):
            told.append(f"--- {file.name}\n" + "\n".join(file.read_text(errors="replace").splitlines()[-15:]))
        return "\n".join(told)


def wait_for_second(second: float) -> None:
    """Wait until an instant has come: there is no event for the end of an hour."""
    time.sleep(max(0.0, second - time.time()))
