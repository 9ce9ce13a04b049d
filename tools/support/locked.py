"""Counts instructions that lock a cache line, an object: the figures of docs/design/09-many-cores.md.

    python3 tools/support/locked.py PROGRAM FEW MANY OBJECTS

FEW and MANY are what `valgrind --tool=callgrind --dump-instr=yes` wrote of two runs of PROGRAM, of which
the second did the same for so many OBJECTS more. Prints the counts by crate, then by function.
"""

import collections
import re
import subprocess
import sys


def locking(program):
    """Addresses of instructions with a `lock` before them, or that exchange a register with memory."""
    command = ["objdump", "-d", "--no-show-raw-insn", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listing:
        return {
            int(line.split(":", 1)[0], 16)
            for line in listing.stdout
            if re.search(r"\tlock |\txchg .*\(", line)
        }


def counted(file, program, addresses):
    """How often they were executed, by function: https://valgrind.org/docs/manual/cl-format.html."""
    names, found = {}, collections.Counter()
    current, address, is_call = {}, 0, False
    with open(file) as lines:
        for line in lines:
            if named := re.match(r"(c?)(ob|fn)=(\(\d+\))(?: (.*))?$", line):
                called, kind, number, name = named.groups()
                name = names.setdefault((kind, number), name)
                if not called:
                    current[kind] = name
            elif line.startswith("calls="):
                # The next line has what the callee cost.
                is_call = True
            elif cost := re.match(r"(0x[0-9a-f]+|[+-]\d+|\*) \S+ (\d+)$", line):
                place, count = cost.groups()
                if place != "*":
                    address = int(place, 16) if place.startswith("0x") else address + int(place)
                if not is_call and current["ob"] == program and address in addresses:
                    found[current["fn"]] += int(count)
                is_call = False
    return found


def main():
    program, few, many, objects = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    addresses = locking(program)
    before, after = (counted(file, program, addresses) for file in (few, many))
    each = {name: (count - before[name]) / objects for name, count in after.items()}
    crates = collections.Counter()
    for name, count in each.items():
        crate = re.search(r"s3haul\w*|\w+(?=::)", name)
        crates[crate[0] if crate else name] += count
    print(f"all: {sum(each.values()):.1f}")
    for counts in (crates, each):
        print()
        for name, count in sorted(counts.items(), key=lambda row: -row[1]):
            if count >= 0.5:
                print(f"{count:7.2f} {name}")


if __name__ == "__main__":
    main()
