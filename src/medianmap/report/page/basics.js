// Elements are made here and nowhere else: text enters the page as text nodes, never as markup.
const content = JSON.parse(document.getElementById('content').textContent);
const byId = (id) => document.getElementById(id);

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
const h = (tag, attributes = {}, ...children) => made(document.createElement(tag), attributes, children);
const s = (tag, attributes = {}, ...children) =>
  made(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

// A name from the data: kept apart from the direction of the text around it.
const named = (name) => h('bdi', {}, name);

function button(text, action, attributes = {}) {
  const element = h('button', { type: 'button', ...attributes }, text);
  element.addEventListener('click', action);
  return element;
}

const grouped = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat('en');
function told(x) {
  if (x === null || x === undefined) return '–';
  if (Number.isInteger(x)) return whole.format(x);
  const size = Math.abs(x);
  return size >= 1e6 || size < 1e-3 ? x.toExponential(3) : grouped.format(x);
}
const counted = (n, one, many = `${one}s`) => `${whole.format(n)} ${n === 1 ? one : many}`;

function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
const download = (name, lines, type = 'text/tab-separated-values') => save(name, new Blob([lines.join('\n') + '\n'], { type }));
const field = (value) => (value === null || value === undefined ? '' : String(value).replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, ' '));
const tsvLine = (values) => values.map(field).join('\t');
