// The folders: which of them are shown, as a map and as a table.

/** Cells of the map at most, in all and in one folder. */
const CELLS_MAX = 4000;
const CELLS_MAX_IN = 150;
/** Pixels of a side below which a cell is not drawn. */
const SIDE_MIN = 2.5;
/** Rows of the table before "more" is asked for. */
const ROWS = 200;
/** Pixels that a cell needs to have others inside, and to have a label. */
const INSIDE_MIN = [70, 48];
const LABEL_MIN = [34, 16];
const HEADER = 18;
/** Levels that are drawn in each other. */
const LEVELS = 4;

/**
 * Rectangles for parts that are sorted by size, the greatest first, each as near to a square as
 * the rest allows: Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000).
 */
function squarified(sizes, left, top, width, height) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const cells = [];
  if (!(total > 0) || width <= 0 || height <= 0) return cells;
  const scale = (width * height) / total;
  let [x, y, w, h] = [left, top, width, height];
  let from = 0;
  while (from < sizes.length) {
    const side = Math.min(w, h);
    let sum = 0;
    let to = from;
    let worst = Infinity;
    while (to < sizes.length) {
      const more = sum + sizes[to] * scale;
      const most = sizes[from] * scale;
      const least = sizes[to] * scale;
      const square = (side * side) / (more * more);
      const ratio = Math.max(most * square, least > 0 ? 1 / (least * square) : Infinity);
      if (to > from && ratio > worst) break;
      [sum, worst, to] = [more, ratio, to + 1];
    }
    const depth = side > 0 ? sum / side : 0;
    let at = 0;
    for (let index = from; index < to; index += 1) {
      const length = depth > 0 ? (sizes[index] * scale) / depth : 0;
      cells.push(w >= h ? [x, y + at, depth, length] : [x + at, y, length, depth]);
      at += length;
    }
    if (w >= h) [x, w] = [x + depth, w - depth];
    else [y, h] = [y + depth, h - depth];
    from = to;
  }
  return cells;
}

/** The folders and which of them is shown. */
class Tree {
  constructor(data) {
    this.data = data;
    this.children = new Map();
    for (let node = 1; node < data.names.length; node += 1) {
      const above = data.up[node];
      const known = this.children.get(above);
      if (known) known.push(node);
      else this.children.set(above, [node]);
    }
    this.shown = 0;
    this.metric = 0;
    this.colour = 0;
    this.rows = ROWS;
    this.sort = null;
    this.filter = '';
    this.paths = null;
  }

  value(node, metric = this.metric) {
    return this.data.values[metric][node];
  }

  path(node) {
    const names = [];
    for (let at = node; at > 0; at = this.data.up[at]) names.push(this.data.names[at]);
    return names.reverse().join('');
  }

  address(node) {
    return this.data.names[0] + this.path(node);
  }

  /** What is in a folder by a measure, the greatest first; the rest is -1. */
  parts(node, metric = this.metric) {
    const children = this.children.get(node) ?? [];
    const parts = children.map((child) => [child, this.value(child, metric)]);
    parts.push([-1, this.rest(node, metric)]);
    return parts.filter((part) => part[1] > 0).sort((a, b) => b[1] - a[1]);
  }

  /** What is in a folder and in none of the folders that are listed in it. */
  rest(node, metric) {
    const children = this.children.get(node) ?? [];
    const inside = children.reduce((sum, child) => sum + this.value(child, metric), 0);
    return Math.max(0, this.value(node, metric) - inside);
  }

  /** What the rest of a folder is called. */
  restName(node) {
    const folded = this.data.folded[node] ?? 0;
    if (folded === 0) return 'objects in this folder';
    const folders = folded === 1 ? '1 small folder' : `${COUNT.format(folded)} small folders`;
    return `objects in this folder, and ${folders}`;
  }

  /** The folders whose paths have the text that is searched for. */
  found() {
    this.paths ??= this.data.names.map((_, node) => this.path(node).toLowerCase());
    const found = [];
    for (let node = 1; node < this.paths.length; node += 1) {
      if (this.paths[node].includes(this.filter)) found.push(node);
    }
    return found;
  }

  /** Figures of a folder in one line. */
  summary(node) {
    return this.data.metrics.map((metric, index) => this.text(node, index)).join(', ');
  }

  /** A figure of a folder; what may be too low says so. */
  text(node, metric) {
    const { unit } = this.data.metrics[metric];
    const sign = this.data.at_least[node] ? '≥ ' : '';
    const noun = unit === 'count' ? ' objects' : unit === 'cost' ? ' a month' : '';
    return sign + figure(unit, this.value(node, metric)) + noun;
  }

  colourClass(node) {
    const colour = this.data.colours[this.colour];
    return colour ? colourClass(colour, colour.values[node]) : 'k0';
  }
}

/** The style of a colour; labels that come after the last style share it. */
function colourClass(colour, value) {
  const [letter, last] = { kinds: ['k', 7], ages: ['s', 9], changes: ['d', 6] }[colour.scale];
  return letter + Math.min(value, last);
}

/** Places a cell in shares of what it is in, so that it fits on paper as well. */
function put(cell, [x, y, w, h], [width, height]) {
  const share = (part, whole) => `${((100 * part) / whole).toFixed(3)}%`;
  Object.assign(cell.style, {
    left: share(x, width),
    top: share(y, height),
    width: share(w, width),
    height: share(h, height),
  });
}

/** Draws the map of a tree. */
class TreeMap {
  constructor(tree, element, open) {
    Object.assign(this, { tree, element, open, cells: 0 });
    element.addEventListener('keydown', (event) => this.key(event));
    element.addEventListener('click', (event) => {
      const cell = event.target.closest('[data-node]');
      if (cell) open(Number(cell.dataset.node));
    });
  }

  /** Draws level by level, so that what does not fit in the end is small. */
  draw() {
    this.cells = 0;
    this.inside = [];
    const { width, height } = this.element.getBoundingClientRect();
    const cells = this.level(this.tree.shown, [0, 0, width, height], [width, height], 0);
    for (let next = 0; next < this.inside.length; next += 1) {
      const { cell, node, place, frame, depth } = this.inside[next];
      const isFull = this.cells >= CELLS_MAX;
      cell.append(...(isFull ? [this.size(node)] : this.level(node, place, frame, depth)));
    }
    this.element.replaceChildren(...cells);
    const first = this.element.querySelector('button');
    if (first) first.tabIndex = 0;
  }

  level(node, [left, top, width, height], frame, depth) {
    const parts = this.tree.parts(node);
    const places = squarified(parts.map((part) => part[1]), left, top, width, height);
    const cells = [];
    for (let index = 0; index < Math.min(places.length, CELLS_MAX_IN); index += 1) {
      const [, , w, h] = places[index];
      if (Math.min(w, h) < SIDE_MIN) continue;
      const cell = this.cell(parts[index][0], node, places[index], depth);
      put(cell, places[index], frame);
      cells.push(cell);
    }
    this.cells += cells.length;
    return cells;
  }

  cell(node, above, [, , w, h], depth) {
    const { tree } = this;
    const isRest = node < 0;
    const isMixed = isRest && tree.data.folded[above] > 0;
    const colour = isMixed ? 'rest' : tree.colourClass(isRest ? above : node);
    const cell = make(isRest || depth > 0 ? 'div' : 'button', { className: `cell ${colour}` });
    const name = isRest ? tree.restName(above) : tree.data.names[node];
    if (isRest) {
      cell.title = name;
    } else {
      cell.dataset.node = node;
      cell.title = `${visible(name)}\n${tree.summary(node)}`;
    }
    if (depth > 0) cell.setAttribute('aria-hidden', 'true');
    else this.label(cell, node, name);
    if (w >= LABEL_MIN[0] && h >= LABEL_MIN[1]) {
      cell.append(isRest ? make('span', { textContent: name }) : nameOf(name));
    }
    const fits = w >= INSIDE_MIN[0] && h >= INSIDE_MIN[1];
    if (!isRest && depth + 1 < LEVELS && fits && tree.children.has(node)) {
      const place = [1, HEADER, w - 4, h - HEADER - 3];
      this.inside.push({ cell, node, place, frame: [w - 2, h - 2], depth: depth + 1 });
    } else if (!isRest && h >= 2 * LABEL_MIN[1] && w >= LABEL_MIN[0]) {
      cell.append(this.size(node));
    }
    return cell;
  }

  size(node) {
    return make('span', { textContent: this.tree.text(node, this.tree.metric) });
  }

  label(cell, node, name) {
    if (node < 0) return;
    cell.type = 'button';
    cell.tabIndex = -1;
    cell.setAttribute('aria-label', `${visible(name)}: ${this.tree.summary(node)}`);
  }

  key(event) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key === 'Backspace' || event.key === 'Escape') {
      if (this.tree.shown > 0) this.open(this.tree.data.up[this.tree.shown], true);
      event.preventDefault();
      return;
    }
    const cells = [...this.element.querySelectorAll('button')];
    let next = cells.indexOf(document.activeElement) + (steps[event.key] ?? 0);
    if (event.key === 'Home') next = 0;
    else if (event.key === 'End') next = cells.length - 1;
    else if (!(event.key in steps)) return;
    const cell = cells[Math.max(0, Math.min(next, cells.length - 1))];
    if (!cell) return;
    for (const other of cells) other.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
    event.preventDefault();
  }
}
