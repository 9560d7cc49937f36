// All neurons as a table, sorted by any column, and as TSV.
const LONG = 300; // tables of more rows are not printed
const columns = [
  ['neuron', 'neuron'], ['layer', 'layer'], ['row', 'row'], ['column', 'column'], ['exemplar', isMean ? 'nearest point' : 'exemplar'], ['hits', 'points'],
  ['u', 'U-matrix'], ['quality', 'mean dissimilarity'], ['sure', content.certainty.n_resamples ? 'confidence' : 'margin'], ['group', 'supercluster'], ['majority', 'majority class'],
  ['purity', 'purity'], ['predicts', 'predicts'],
].filter(([key]) => key in content.neurons[0]);
const isText = (key) => ['exemplar', 'majority', 'predicts'].includes(key);
// Neurons, layers, rows and columns are counted from 0, as in every file; superclusters are named from 1.
const isPlace = (key) => ['layer', 'row', 'column', 'group'].includes(key);
const cellValue = (neuron, key) => (key === 'group' ? neuron[key] + 1 : neuron[key]);

const tableBody = h('tbody');
const tableRows = []; // made when first shown
const tableRow = (j) => (tableRows[j] ??= h('tr', { 'data-row': j, class: j === selected ? 'chosen' : null }, columns.map(([key]) => {
  const value = cellValue(content.neurons[j], key);
  if (key === 'neuron') return h('td', { class: 'number' }, linkTo(j, String(j)));
  return isText(key) ? h('td', { class: 'id' }, named(value ?? '–')) : h('td', { class: 'number' }, told(value));
})));
const heads = columns.map(([key, name]) => h('th', { scope: 'col', 'aria-sort': 'none', class: isText(key) ? null : 'number' },
  button(name, () => sortBy(key), { 'data-sort': key })));

const collator = new Intl.Collator('en', { numeric: true });
let sorted = ['neuron', 1];
function sortBy(key) {
  const first = isText(key) || key === 'neuron' || isPlace(key) ? 1 : -1;
  sorted = [key, sorted[0] === key ? -sorted[1] : first];
  showSorted();
}
function order() {
  const [key, direction] = sorted;
  return content.neurons.map((neuron) => neuron.neuron).sort((a, b) => {
    const [x, y] = [content.neurons[a][key], content.neurons[b][key]];
    if (x === null || y === null) return (x === null) - (y === null) || a - b; // what is unknown comes last
    return direction * (isText(key) ? collator.compare(x, y) : x - y) || a - b;
  });
}
// The first rows at once, the others in small turns, so that the page answers meanwhile.
const TURN = 100;
let pending = null;
function showSorted() {
  const all = order();
  clearTimeout(pending);
  tableBody.replaceChildren();
  (function turn(from) {
    tableBody.append(...all.slice(from, from + TURN).map(tableRow));
    if (from + TURN < K) pending = setTimeout(turn, 25, from + TURN);
  })(0);
  heads.forEach((head, k) => head.setAttribute('aria-sort',
    columns[k][0] !== sorted[0] ? 'none' : sorted[1] > 0 ? 'ascending' : 'descending'));
}

function downloadNeurons() {
  const lines = order().map((j) => tsvLine(columns.map(([key]) => cellValue(content.neurons[j], key))));
  download('neurons.tsv', [tsvLine(columns.map(([, name]) => name)), ...lines]);
}
const downloadAssignments = () => download('assignments.tsv', memberLines(content.neurons.map((neuron) => neuron.neuron)));

function setUpTable() {
  byId('table').append(h('table', {}, h('thead', {}, h('tr', {}, heads)), tableBody));
  byId('neurons').classList.toggle('long', K > LONG);
  byId('downloads').append(button('Neurons as TSV', downloadNeurons, { id: 'download-neurons' }));
  if (content.listed.complete) byId('downloads').append(button('All points as TSV', downloadAssignments, { id: 'download-points' }));
  else byId('downloads').append(h('span', { class: 'muted' }, 'All points: assignments.tsv'));
  tableBody.addEventListener('click', (event) => {
    const row = event.target.closest('tr');
    if (row && !event.target.closest('button')) select(Number(row.dataset.row));
  });
  onSelect.push((j) => {
    for (const row of tableBody.querySelectorAll('.chosen')) row.classList.remove('chosen');
    tableRows[j]?.classList.add('chosen');
  });
  showSorted();
}
