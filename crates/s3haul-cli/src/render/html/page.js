// Puts the page together from its data.

const page = JSON.parse(byId('data').textContent);

/** Says something to those who hear the page. */
function say(text) {
  byId('status').textContent = text;
}

function showHead() {
  document.title = `${visible(page.title)} – s3haul`;
  byId('kind').textContent = page.kind;
  byId('title').append(nameOf(page.title));
  for (const fact of page.facts) {
    const value = make('dd', {}, nameOf(figure(fact.unit, fact.value)));
    if (isNumber(fact.unit)) value.dataset.value = fact.value;
    value.dataset.fact = fact.name;
    byId('facts').append(make('div', {}, make('dt', { textContent: fact.name }), value));
  }
  byId('made').textContent = page.made;
}

/** A table whose rows have a bar each. */
function barsOf(section) {
  const metrics = section.columns.filter((column) => isNumber(column.unit));
  const first = section.columns.indexOf(metrics[0]);
  const greatest = Math.max(1, ...section.rows.map((row) => row[first]));
  const body = make('tbody');
  for (const row of section.rows) {
    const bar = make('div', { className: 'bar' });
    bar.style.width = `${(100 * row[first]) / greatest}%`;
    const cells = section.columns.map((column, index) => cellOf(column.unit, row[index]));
    body.append(make('tr', {}, ...cells, make('td', { className: 'track' }, bar)));
  }
  return tableOf(section, body);
}

function tableOf(section, body) {
  const heads = section.columns.map((column) =>
    make('th', {
      scope: 'col',
      className: isNumber(column.unit) ? 'number' : '',
      textContent: column.name,
    }),
  );
  return make('table', {}, make('thead', {}, make('tr', {}, ...heads)), body);
}

function rowsOf(section) {
  const body = make('tbody');
  for (const row of section.rows) {
    body.append(
      make('tr', {}, ...section.columns.map((column, index) => cellOf(column.unit, row[index]))),
    );
  }
  return tableOf(section, body);
}

/** Shows the sections below the folders; histograms stand side by side. */
function showSections() {
  let row = null;
  for (const section of page.sections) {
    const table = section.is_bars ? barsOf(section) : rowsOf(section);
    const parts = [make('h2', { textContent: section.title })];
    if (section.note) parts.push(make('p', { className: 'note', textContent: section.note }));
    parts.push(make('div', { className: 'wide' }, table));
    const element = make('div', { role: 'region' }, ...parts);
    element.setAttribute('aria-label', section.title);
    element.dataset.section = section.title;
    if (section.is_bars) {
      row ??= byId('sections').appendChild(make('div', { className: 'bars' }));
      row.append(element);
    } else {
      row = null;
      byId('sections').append(element);
    }
  }
}

/** Joins the map, the table and the controls. */
class TreeView {
  constructor(data) {
    this.tree = new Tree(data);
    this.map = new TreeMap(this.tree, byId('map'), (node, isUp) => this.open(node, isUp));
    byId('tree').hidden = false;
    this.addControls();
    byId('more').addEventListener('click', () => {
      this.tree.rows += 1000;
      this.table();
    });
    byId('folders').addEventListener('click', (event) => this.clicked(event));
    new ResizeObserver(() => this.map.draw()).observe(byId('map'));
    this.refresh();
  }

  addControls() {
    const { metrics, colours } = this.tree.data;
    metrics.forEach((metric, index) => {
      const radio = make('input', { type: 'radio', name: 'metric', checked: index === 0 });
      radio.value = index;
      radio.addEventListener('change', () => {
        this.tree.metric = index;
        this.tree.sort = null;
        this.refresh();
        say(`Sizes are ${metric.name.toLowerCase()}`);
      });
      byId('metrics').append(make('label', {}, radio, ` ${metric.name}`));
    });
    colours.forEach((colour, index) => {
      byId('colours').append(make('option', { value: index, textContent: colour.name }));
    });
    byId('colours').addEventListener('change', (event) => {
      this.tree.colour = Number(event.target.value);
      this.refresh();
    });
    byId('search').addEventListener('input', (event) => {
      this.tree.filter = event.target.value.toLowerCase();
      this.tree.rows = ROWS;
      this.table();
    });
  }

  /** Shows a folder. */
  open(node, isUp) {
    const before = this.tree.shown;
    this.tree.shown = node;
    this.tree.rows = ROWS;
    this.tree.filter = '';
    byId('search').value = '';
    const focused = ['map', 'folders', 'path'].find((id) =>
      byId(id).contains(document.activeElement),
    );
    this.refresh();
    if (focused) this.focus(focused, isUp ? before : null);
    const count = (this.tree.children.get(node) ?? []).length;
    say(`${visible(this.tree.address(node))}: ${this.tree.summary(node)}, ${count} folders`);
  }

  /** Focuses the part that had the focus, on the folder that was left if there is one. */
  focus(part, node) {
    const left = byId(part).querySelector(`button[data-node="${node}"]`);
    const inside = part === 'path' ? null : byId(part).querySelector('button[data-node]');
    (left ?? inside ?? byId('path').lastElementChild).focus();
  }

  refresh() {
    this.breadcrumb();
    this.map.draw();
    this.legend();
    this.table();
  }

  breadcrumb() {
    const { tree } = this;
    const nodes = [];
    for (let at = tree.shown; at > 0; at = tree.data.up[at]) nodes.push(at);
    nodes.push(0);
    const buttons = nodes.reverse().map((node) => {
      const button = make('button', { type: 'button' }, nameOf(tree.data.names[node]));
      if (node === tree.shown) button.setAttribute('aria-current', 'true');
      button.addEventListener('click', () => this.open(node));
      return button;
    });
    byId('path').replaceChildren(...buttons);
  }

  legend() {
    const colour = this.tree.data.colours[this.tree.colour];
    const items = (colour?.labels ?? []).map((label, index) => {
      const swatch = make('span', { className: `swatch ${colourClass(colour, index)}` });
      return make('li', {}, swatch, nameOf(label));
    });
    byId('legend').replaceChildren(...items);
  }

  table() {
    const { tree } = this;
    const isSearch = tree.filter !== '';
    const nodes = isSearch ? tree.found() : [...(tree.children.get(tree.shown) ?? [])];
    this.sortNodes(nodes, isSearch);
    const rows = nodes.slice(0, tree.rows).map((node) => this.row(node, isSearch));
    if (!isSearch) rows.push(this.restRow());
    byId('folders').tHead.replaceChildren(this.heads());
    byId('folders').tBodies[0].replaceChildren(...rows);
    const count = COUNT.format(nodes.length);
    const folders = nodes.length === 1 ? 'folder' : 'folders';
    const caption = isSearch
      ? `${count} ${folders} found`
      : `${count} ${folders} in ${visible(tree.address(tree.shown))}`;
    byId('folders').caption.textContent = caption;
    if (isSearch) say(caption);
    const more = nodes.length - tree.rows;
    byId('more').hidden = more <= 0;
    byId('more').textContent = `Show more of ${COUNT.format(more)} others`;
  }

  sortNodes(nodes, isSearch) {
    const { tree } = this;
    const { column, isUp } = tree.sort ?? { column: tree.metric, isUp: false };
    const shownName = isSearch ? (node) => tree.paths[node] : (node) => tree.data.names[node];
    const byName = (a, b) => (shownName(a) < shownName(b) ? -1 : 1);
    const order = column < 0 ? byName : (a, b) => tree.value(a, column) - tree.value(b, column);
    nodes.sort((a, b) => (isUp ? order(a, b) : order(b, a)));
  }

  heads() {
    const { tree } = this;
    const { column, isUp } = tree.sort ?? { column: tree.metric, isUp: false };
    const columns = [['Folder', -1], ...tree.data.metrics.map((m, index) => [m.name, index])];
    const heads = columns.map(([name, index]) => {
      const button = make('button', { type: 'button', textContent: name });
      button.dataset.sort = index;
      const head = make('th', { scope: 'col', className: index < 0 ? '' : 'number' }, button);
      if (index === column) head.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
      return head;
    });
    const colours = tree.data.colours.map((colour) =>
      make('th', { scope: 'col', textContent: colour.name }),
    );
    return make('tr', {}, ...heads, ...colours);
  }

  row(node, isSearch) {
    const { tree } = this;
    const name = isSearch ? tree.path(node) : tree.data.names[node];
    const button = make('button', { type: 'button' }, nameOf(name));
    button.dataset.node = node;
    const figures = tree.data.metrics.map((metric, index) => {
      const cell = cellOf(metric.unit, tree.value(node, index));
      if (tree.data.at_least[node]) cell.prepend('≥ ');
      return cell;
    });
    const colours = tree.data.colours.map((colour) => {
      const value = colour.values[node];
      const swatch = make('span', { className: `swatch ${colourClass(colour, value)}` });
      return make('td', {}, swatch, nameOf(colour.labels[value] ?? ''));
    });
    const row = make('tr', {}, make('td', {}, button), ...figures, ...colours);
    row.dataset.path = tree.path(node);
    return row;
  }

  restRow() {
    const { tree } = this;
    const node = tree.shown;
    const figures = tree.data.metrics.map((metric, index) =>
      cellOf(metric.unit, tree.rest(node, index)),
    );
    const name = make('td', { textContent: `(${tree.restName(node)})` });
    const empty = tree.data.colours.map(() => make('td'));
    return make('tr', { className: 'others' }, name, ...figures, ...empty);
  }

  clicked(event) {
    const button = event.target.closest('button');
    if (!button) return;
    if (button.dataset.node !== undefined) {
      this.open(Number(button.dataset.node));
      return;
    }
    const column = Number(button.dataset.sort);
    const before = this.tree.sort ?? { column: this.tree.metric, isUp: false };
    const isUp = before.column === column ? !before.isUp : column < 0;
    this.tree.sort = { column, isUp };
    this.table();
    byId('folders').querySelector(`[data-sort="${column}"]`).focus();
  }
}

showHead();
if (page.tree) new TreeView(page.tree);
showSections();
document.documentElement.dataset.ready = Math.round(performance.now());
