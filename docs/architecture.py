#!/usr/bin/env python3
"""architecture.py ROOT: the folders of the tree and what they include, as an SVG on standard output. Each folder is
above all that it includes; an arrow back is an error. Arrows that follow from others are left out."""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<(pto/[^>]+)>)', re.M)
TREES = ["ir", "core", "tools", "sdk/include", "plugins"]
WIDTH, BOX_WIDTH, BOX_HEIGHT, FLOOR = 1000, 172, 34, 76


def room_of(path):
    """The box that a file belongs to: its folder; all passes are one box, and so are all backends."""
    folder = os.path.dirname(path)
    for many in ("plugins/passes", "plugins/generators", "plugins/backends"):
        if folder.startswith(many):
            return many
    return "sdk" if folder.startswith("sdk/") else folder


def resolve(root, includer, own, sdk):
    """The included file's path in the tree, or None."""
    if sdk:
        return "sdk/include/" + sdk
    for base in ("", os.path.dirname(includer), "plugins/shared", "plugins/shared/storage", "plugins/backends"):
        path = os.path.normpath(os.path.join(base, own))
        if os.path.exists(os.path.join(root, path)):
            return path
    return None


def read(root):
    edges = {}
    for tree in TREES:
        for folder, _, files in sorted(os.walk(os.path.join(root, tree))):
            for name in sorted(files):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), root)
                room = room_of(path)
                edges.setdefault(room, set())
                with open(os.path.join(root, path), encoding="utf-8") as f:
                    for own, sdk in INCLUDE.findall(f.read()):
                        target = resolve(root, path, own, sdk)
                        if target and target.endswith(".h") and room_of(target) != room:
                            edges[room].add(room_of(target))
    return edges


def floors(edges):
    """The length of the longest way down from each folder; ends the program at a circle."""
    found = {}

    def visit(room, way):
        if room in way:
            sys.exit("folders include each other: " + " -> ".join(way[way.index(room):] + [room]))
        if room not in found:
            found[room] = 1 + max((visit(below, way + [room]) for below in sorted(edges[room])), default=-1)
        return found[room]

    for room in sorted(edges):
        visit(room, [])
    return found


def reduced(edges):
    """Without the arrows that follow from others."""
    below = {}

    def reach(room):
        if room not in below:
            below[room] = set(edges[room]).union(*(reach(r) for r in edges[room])) if edges[room] else set()
        return below[room]

    return {a: sorted(b for b in to if not any(b in reach(c) for c in to if c != b)) for a, to in sorted(edges.items())}


def place(level):
    """The middle of the top edge of each box."""
    top = max(level.values())
    places = {}
    for floor in range(top + 1):
        rooms = sorted(r for r in level if level[r] == floor)
        for i, room in enumerate(rooms):
            places[room] = (round(WIDTH * (i + 1) / (len(rooms) + 1)), 20 + (top - floor) * FLOOR)
    return places


def draw(edges):
    level = floors(edges)
    places = place(level)
    height = 40 + max(level.values()) * FLOOR + BOX_HEIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
           '<title>Folders and the includes between them</title>',
           '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 8 4 0 8z" fill="#777"/></marker></defs>',
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>']
    for room, to in reduced(edges).items():
        x, y = places[room]
        for other in to:
            u, v = places[other]
            out.append(f'<path d="M{x} {y + BOX_HEIGHT} C{x} {y + FLOOR} {u} {v - FLOOR + BOX_HEIGHT} {u} {v}" fill="none" '
                       'stroke="#777" marker-end="url(#a)"/>')
    for room in sorted(places):
        x, y = places[room]
        out.append(f'<rect x="{x - BOX_WIDTH // 2}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="4" fill="#eef3fa" stroke="#456"/>')
        out.append(f'<text x="{x}" y="{y + 22}" text-anchor="middle">{room}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(draw(read(sys.argv[1])))
