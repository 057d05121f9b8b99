"""Looks for secrets wherever a process can look: files, environments, command lines and memory. Says where something was found and
its digest, never what it was. Standard library only; it is run by agents, by actions, and outside of any cage to see that it finds."""

import hashlib
import os
import re

# Written so that neither this text nor the compiled pattern is what it looks for.
SECRET = re.compile(rb"CNR[Y][0-9a-f]{32}|plc[_][0-9A-Za-z_-]{20,}")
# Programs and libraries of the host, and what is no file. Nothing is planted there.
ELSEWHERE = {"proc", "sys", "dev", "usr", "lib", "lib64", "lib32", "bin", "sbin", "boot"}
PIECE = 16 << 20


def found_in(place, data):
    return {f"{hashlib.sha256(match).hexdigest()} {place}" for match in SECRET.findall(data)}


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(64 << 20)
    except OSError:
        return None


def in_files(tops):
    found, count = set(), 0
    for top in tops:
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                data = read(path) if os.path.isfile(path) else None
                if data is not None:
                    found, count = found | found_in(path, data), count + 1
    return found, count


def in_memory(pid):
    found, size = set(), 0
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for line in maps.read().splitlines():
                span, rights = line.split()[:2]
                start, end = (int(number, 16) for number in span.split("-"))
                while "r" in rights and start < end:
                    try:
                        memory.seek(start)
                        data = memory.read(min(PIECE, end - start))
                    except (OSError, ValueError, OverflowError):
                        break
                    if not data:
                        break
                    found, size, start = found | found_in(f"memory of {pid}", data), size + len(data), start + len(data)
    except OSError:
        pass
    return found, size


def in_processes():
    found, count, memory = set(), 0, 0
    for pid in (name for name in os.listdir("/proc") if name.isdigit()):
        for what in ("environ", "cmdline"):
            found |= found_in(f"{what} of {pid}", read(f"/proc/{pid}/{what}") or b"")
        in_it, size = in_memory(pid)
        found, count, memory = found | in_it, count + 1, memory + size
    return found, count, memory


def everywhere():
    """What was found, and how much was looked at."""
    tops = [f"/{name}" for name in os.listdir("/") if name not in ELSEWHERE] + ["/dev/shm", "/proc/self/fd"]
    files, file_count = in_files(tops)
    processes, process_count, memory = in_processes()
    found = files | processes | found_in("environment", "\n".join(os.environ.values()).encode())
    return found, f"looked at {file_count} files, {process_count} processes, {memory} bytes of memory"


if __name__ == "__main__":
    found, looked = everywhere()
    print("\n".join(sorted(found) + [looked]))
