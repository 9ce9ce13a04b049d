// What all parts of the page use: elements, names of others, figures.
//
// Nothing of the data ever becomes markup: it is set as text, or as the value of a style.

/** Characters that would not be seen, or would turn what stands around them. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
const UNITS = ['Bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const COUNT = new Intl.NumberFormat('en-US');

/** The element with an id. */
const byId = (id) => document.getElementById(id);

/** A new element with properties and children; texts among these stay texts. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role' || name === 'scope') {
      element.setAttribute(name, value);
    } else {
      element[name] = value;
    }
  }
  element.append(...children);
  return element;
}

/** A name as text in which characters that cannot be seen are written out. */
function visible(name) {
  if (!UNSEEN.test(name)) return name;
  const parts = Array.from(name, (character) => {
    const code = character.codePointAt(0).toString(16);
    return UNSEEN.test(character) ? `\\u{${code}}` : character;
  });
  return parts.join('');
}

/** A name as an element that keeps its direction of writing to itself. */
function nameOf(name) {
  const element = make('span', { className: 'name', dir: 'auto' });
  if (!UNSEEN.test(name)) {
    element.textContent = name;
    return element;
  }
  let run = '';
  const flush = () => {
    if (run) element.append(run);
    run = '';
  };
  for (const character of name) {
    if (UNSEEN.test(character)) {
      flush();
      element.append(make('span', { className: 'odd', textContent: visible(character) }));
    } else {
      run += character;
    }
  }
  flush();
  return element;
}

/** A size with three digits or so, as the command prints it. */
function sizeText(bytes) {
  if (bytes < 0) return `-${sizeText(-bytes)}`;
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? COUNT.format(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** An amount of money, given in millionths. */
function costText(millionths, currency) {
  const amount = millionths / 1e6;
  let digits = 2;
  if (amount !== 0 && Math.abs(amount) < 1) digits = Math.abs(amount) < 0.01 ? 6 : 4;
  const text = amount.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${text} ${currency}`;
}

/** A figure of a unit as text. */
function figure(unit, value) {
  if (value === null || value === undefined) return '';
  if (unit === 'bytes') return sizeText(value);
  if (unit === 'count') return COUNT.format(value);
  if (unit === 'cost') return costText(value, page.currency);
  return String(value);
}

/** Whether values of a unit are numbers. */
const isNumber = (unit) => unit === 'bytes' || unit === 'count' || unit === 'cost';

/** A value of a unit as a cell of a table. */
function cellOf(unit, value) {
  if (unit === 'name') return make('td', {}, nameOf(value));
  if (unit === 'command') {
    return make('td', {}, value ? make('code', { textContent: visible(value) }) : '');
  }
  if (!isNumber(unit)) return make('td', {}, nameOf(figure(unit, value)));
  const cell = make('td', { className: 'number', textContent: figure(unit, value) });
  if (value !== null) {
    cell.dataset.value = value;
    if (unit === 'bytes') cell.title = `${COUNT.format(value)} bytes`;
  }
  return cell;
}
