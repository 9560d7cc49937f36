// The panel beside the map: exemplar, members and neighbours of the selected neuron.
const FIRST = 50;
const panel = byId('panel');
const isMean = !content.map.startsWith('Median'); // of vectors, or of points known by their dissimilarities
const mean = content.map.startsWith('Batch') ? 'mean' : 'combination';
const linkTo = (j, text) => button(text, () => go(j), { class: 'link-button', 'data-goto': j });
const facts = (pairs) => h('dl', { class: 'facts' }, pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));

// Selecting from a list keeps the reader at the panel.
function go(j) {
  select(j);
  panel.querySelector('h2').focus();
}

function membersTable(j) {
  const { ids, dissimilarities, classes, columns = [] } = content.members[j];
  const hits = content.neurons[j].hits;
  if (!hits) return [h('p', { class: 'muted' }, 'No point has this exemplar as its nearest.')];
  const body = h('tbody');
  const row = (k) => h('tr', {}, h('td', { class: 'id' }, named(ids[k])),
    classes ? h('td', {}, classes[k] < 0 ? '–' : named(content.class_names[classes[k]])) : null,
    h('td', { class: 'number' }, told(dissimilarities[k])),
    columns.map((codes, c) => h('td', {}, codes[k] < 0 ? '–' : named(content.columns[c].values[codes[k]]))));
  const note = h('p', { class: 'small' });
  const more = button('', () => extend(10 * FIRST), { class: 'link-button more' });
  function extend(n) {
    const from = body.childElementCount;
    for (let k = from; k < Math.min(from + n, ids.length); k++) body.append(row(k));
    const left = ids.length - body.childElementCount;
    more.textContent = `Show ${whole.format(Math.min(left, 10 * FIRST))} more`;
    more.hidden = left === 0;
    note.textContent = ids.length < hits ? `and ${whole.format(hits - ids.length)} more in assignments.tsv` : '';
  }
  extend(FIRST);
  const head = ['id', ...(classes ? ['class'] : [])].map((name) => h('th', { scope: 'col' }, name));
  return [h('table', { class: 'members' }, h('thead', {}, h('tr', {}, head, h('th', { scope: 'col', class: 'number' }, 'dissimilarity'), (columns.length ? content.columns : []).map(({ name }) => h('th', { scope: 'col' }, name)))), body), more, note];
}

function neighborsTable(j) {
  if (!neighbors[j].length) return [h('p', { class: 'muted' }, 'None: no point lies between this prototype and another.')];
  const between = content.kind === 'graph';
  const rows = neighbors[j].map(([other, d, count]) => h('tr', {},
    h('td', {}, linkTo(other, `neuron ${other}`)), h('td', { class: 'id' }, named(content.neurons[other].exemplar ?? '–')),
    between ? h('td', { class: 'number' }, told(count)) : null, h('td', { class: 'number' }, told(d))));
  const head = [h('th', { scope: 'col' }, 'neighbour'), h('th', { scope: 'col' }, isMean ? 'nearest point' : 'exemplar'),
    between ? h('th', { scope: 'col', class: 'number' }, 'points between') : null, h('th', { scope: 'col', class: 'number' }, 'dissimilarity')];
  return [h('table', { class: 'members' }, h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows))];
}

// The classes of a mixed neuron, the largest share first.
function mixture(j) {
  const shares = (content.classes?.shares[j] ?? []).map((share, k) => [share, k]).filter(([share]) => share > 0);
  if (shares.length < 2) return null;
  shares.sort((p, q) => q[0] - p[0]);
  return h('div', { class: 'mixture' }, shares.map(([share, k]) => h('span', { class: 'key' }, swatch(content.classes.colors[k]),
    named(content.classes.names[k]), h('span', { class: 'muted' }, `${Math.round(100 * share)}%`))));
}

function showNeuron(j) {
  const neuron = content.neurons[j];
  const where = ['layer', 'row', 'column'].filter((name) => name in neuron).map((name) => `${name} ${neuron[name] + 1}`).join(', ');
  const pairs = [['points', told(neuron.hits)], ['mean dissimilarity', told(neuron.quality)], ['to neighbours, mean', told(neuron.u)],
    ...(neuron.sure === null ? [] : [[content.certainty.n_resamples ? 'mean confidence' : 'mean margin', told(neuron.sure)]]),
    ['supercluster', `${neuron.group + 1} of ${content.groups.n}`]];
  if (neuron.majority) pairs.push(['majority class', named(neuron.majority)], ['purity', `${Math.round(100 * neuron.purity)}%`]);
  if (neuron.predicts) pairs.push(['predicts', named(neuron.predicts)]);
  panel.replaceChildren(
    h('div', { class: 'title-row' },
      h('h2', { tabindex: -1 }, `Neuron ${j}`, where ? h('span', { class: 'muted' }, ` · ${where}`) : null),
      button('Close', () => { select(null); map.focus(); }, { class: 'close' })),
    facts(pairs), ...[mixture(j)].filter(Boolean),
    h('h3', {}, isMean ? `Prototype: a ${mean}; the nearest point is` : 'Exemplar'),
    h('p', { class: 'exemplar-id' }, named(neuron.exemplar ?? '–')), ...drawnExemplar(j).filter(Boolean),
    h('h3', {}, `${counted(neuron.hits, 'member')}, nearest first`), ...membersTable(j),
    h('h3', {}, `${counted(neighbors[j].length, 'neighbour')}, nearest first`), ...neighborsTable(j));
  panel.scrollTop = 0;
}

function showNothing() {
  const touching = { map: 'Cells that touch are alike.', 'torn map': 'Cells that touch are mostly alike.' }[content.order?.reading] ?? 'Cells that touch need not be alike.';
  const top = content.neurons.map((neuron) => neuron.neuron).sort((a, b) => content.neurons[b].hits - content.neurons[a].hits || a - b).slice(0, 8);
  const what = isMean ? `the ${mean} of similar points` : 'a real point that stands for those like it';
  panel.replaceChildren(
    h('h2', { tabindex: -1 }, 'Choose a neuron'),
    h('p', { class: 'muted' }, `Each cell of the map is ${what}. ${lattice ? touching : 'Nodes are joined where points lie between them; near nodes are alike.'} Choose one to see its exemplar, its members and its neighbours.`),
    h('h3', {}, 'The largest'),
    h('table', { class: 'members' }, h('tbody', {}, top.map((j) => h('tr', {},
      h('td', {}, linkTo(j, `neuron ${j}`)), h('td', { class: 'id' }, named(content.neurons[j].exemplar ?? '–')),
      h('td', { class: 'number' }, counted(content.neurons[j].hits, 'point')))))), ...leastSure());
}

// The points that may as well be elsewhere, with the two neurons they are between.
function leastSure() {
  const { least_sure, n_resamples } = content.certainty;
  if (!least_sure.length) return [];
  const shown = n_resamples ? 'confidence' : 'ratio';
  const rows = least_sure.map((point) => h('tr', {}, h('td', { class: 'id' }, named(point.id)),
    h('td', {}, linkTo(point.neuron, `neuron ${point.neuron}`), ' or ', linkTo(point.second, String(point.second))),
    h('td', { class: 'number' }, told(point[shown]))));
  const head = ['point', 'nearest'].map((name) => h('th', { scope: 'col' }, name));
  return [h('h3', {}, 'The least sure points'),
    h('table', { class: 'members' }, h('thead', {}, h('tr', {}, head, h('th', { scope: 'col', class: 'number' }, n_resamples ? 'confidence' : 'd1 / d2'))), h('tbody', {}, rows))];
}

onSelect.push((j) => {
  panel.classList.toggle('nothing', j === null);
  if (j === null) showNothing();
  else showNeuron(j);
  const { top } = panel.getBoundingClientRect();
  if (j !== null && top > 0.8 * innerHeight) scrollBy(0, top - innerHeight / 2); // below the map on a narrow screen
  byId('told').textContent = j === null ? '' : `Selected: ${toldOf(j)}`;
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && event.target !== byId('search') && selected !== null) {
    select(null);
    map.focus();
  }
});
