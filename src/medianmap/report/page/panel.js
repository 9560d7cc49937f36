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

// The classes of what is mixed, the largest share first: those that the map shows, or the labels.
const MOST_MIXED = 12;
function mixture(neurons) {
  const shown = coloring.classes ? coloring : [labels, labels?.other].find((each) => each?.classes);
  if (!shown) return null;
  const shares = new Map();
  for (const each of neurons) for (const [code, n] of shown.rows[each]) shares.set(code, (shares.get(code) ?? 0) + n);
  if (shares.size < 2) return null;
  const all = [...shares.values()].reduce((sum, n) => sum + n, 0);
  const most = [...shares].sort((p, q) => q[1] - p[1] || p[0] - q[0]);
  return h('div', { class: 'mixture' }, most.slice(0, MOST_MIXED).map(([code, n]) => h('span', { class: 'key' }, swatch(shown.styleOf(code)),
    named(shown.column.values[code]), h('span', { class: 'muted' }, `${Math.round((100 * n) / all)}%`))),
    most.length > MOST_MIXED ? h('span', { class: 'muted' }, `and ${most.length - MOST_MIXED} more`) : null);
}

function showNeuron(j) {
  const neuron = content.neurons[j];
  const where = ['layer', 'row', 'column'].filter((name) => name in neuron).map((name) => `${name} ${neuron[name]}`).join(', ');
  const pairs = [['points', told(neuron.hits)], ['mean dissimilarity', told(neuron.quality)], ['to neighbours, mean', told(neuron.u)],
    ...(neuron.sure === null ? [] : [[content.certainty.n_resamples ? 'mean confidence' : 'mean margin', told(neuron.sure)]]),
    ['supercluster', `${neuron.group + 1} of ${content.groups.n}`]];
  if (neuron.majority) pairs.push(['majority class', named(neuron.majority)], ['purity', `${Math.round(100 * neuron.purity)}%`]);
  if (neuron.predicts) pairs.push(['predicts', named(neuron.predicts)]);
  panel.replaceChildren(
    h('div', { class: 'title-row' },
      h('h2', { tabindex: -1 }, `Neuron ${j}`, where ? h('span', { class: 'muted' }, ` · ${where}`) : null),
      button('Close', () => { select(null); map.focus(); }, { class: 'close' })),
    facts(pairs), ...[mixture([j])].filter(Boolean), downloadsOf([j]),
    h('h3', {}, isMean ? `Prototype: a ${mean}; the nearest point is` : 'Exemplar'),
    h('p', { class: 'exemplar-id' }, named(neuron.exemplar ?? '–')), ...drawnExemplar(j).filter(Boolean),
    h('h3', {}, `${counted(neuron.hits, 'member')}, nearest first`), ...membersTable(j),
    h('h3', {}, `${counted(neighbors[j].length, 'neighbour')}, nearest first`), ...neighborsTable(j));
  panel.scrollTop = 0;
}

// Several neurons: what is in them, and their members as files.
function showPicked() {
  const neurons = sorted_(picked);
  const n = neurons.reduce((sum, j) => sum + content.neurons[j].hits, 0);
  panel.replaceChildren(
    h('div', { class: 'title-row' }, h('h2', { tabindex: -1 }, counted(neurons.length, 'neuron'), h('span', { class: 'muted' }, ` · ${counted(n, 'point')}`)),
      button('Close', () => { clearAll(); map.focus(); }, { class: 'close' })),
    ...[mixture(neurons)].filter(Boolean), downloadsOf(neurons),
    h('table', { class: 'members' }, h('thead', {}, h('tr', {}, ['neuron', isMean ? 'nearest point' : 'exemplar'].map((name) => h('th', { scope: 'col' }, name)), h('th', { scope: 'col', class: 'number' }, 'points'))),
      h('tbody', {}, neurons.slice(0, 4 * FIRST).map((j) => h('tr', {}, h('td', {}, linkTo(j, `neuron ${j}`)), h('td', { class: 'id' }, named(content.neurons[j].exemplar ?? '–')),
        h('td', { class: 'number' }, told(content.neurons[j].hits)))))),
    ...(neurons.length > 4 * FIRST ? [h('p', { class: 'small' }, `and ${neurons.length - 4 * FIRST} more`)] : []));
  panel.scrollTop = 0;
}

const TRUSTED = 0.2; // stress of a layout whose distances can be read
function showNothing() {
  const touching = { map: 'Cells that touch are alike.', 'torn map': 'Cells that touch are mostly alike.' }[content.order?.reading] ?? 'Cells that touch need not be alike.';
  const top = content.neurons.map((neuron) => neuron.neuron).sort((a, b) => content.neurons[b].hits - content.neurons[a].hits || a - b).slice(0, 8);
  const what = isMean ? `the ${mean} of similar points` : 'a real point that stands for those like it';
  panel.replaceChildren(
    h('h2', { tabindex: -1 }, 'Choose a neuron'),
    h('p', { class: 'muted' }, `Each cell of the map is ${what}. ${lattice ? touching : `Nodes are joined where points lie between them; ${content.stress <= TRUSTED ? 'near nodes are alike' : `near nodes need not be alike (stress of the layout ${told(content.stress)})`}.`} Choose one to see its exemplar, its members and its neighbours.`),
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
  return [h('h3', {}, 'The least sure points'), h('p', { class: 'muted' }, n_resamples
    ? 'Confidence: how likely the point keeps its neuron on another sample of the data.'
    : 'd1 / d2 compares the distances to the two nearest neurons: at 1 they are the same.'),
    h('table', { class: 'members' }, h('thead', {}, h('tr', {}, head, h('th', { scope: 'col', class: 'number' }, n_resamples ? 'confidence' : 'd1 / d2'))), h('tbody', {}, rows))];
}

// The most unusual points, and those nearest to the border of two groups, the highest scores first.
function setUpScores() {
  const list = (id, points, told_, none, second) => {
    if (!points.length) return byId(id).append(h('p', { class: 'muted' }, none));
    const rows = points.map((point) => h('tr', { class: point.flagged ? 'flagged' : null }, h('td', { class: 'id' }, named(point.id)),
      h('td', {}, linkTo(point.neuron, `neuron ${point.neuron}`), ...(second ? [' or ', linkTo(point.second, String(point.second))] : [])),
      h('td', { class: 'flag' }, point.flagged ? 'flagged' : ''), h('td', { class: 'number' }, told(point.score))));
    const head = ['point', second ? 'between' : 'nearest', ''].map((name) => h('th', { scope: 'col' }, name));
    return byId(id).append(h('p', { class: 'muted' }, told_), h('div', { class: 'scroll' }, h('table', { class: 'members' },
      h('thead', {}, h('tr', {}, head, h('th', { scope: 'col', class: 'number' }, 'score'))), h('tbody', {}, rows))));
  };
  const flagged = (n, one, many) => (n === 0 ? `No point is flagged as ${one}` : n === 1 ? `1 point is flagged as ${one}` : `${whole.format(n)} points are flagged as ${many}`);
  const from = content.scored_by_exemplars ? 'the exemplars around it (not all pairs were compared, so they differ from those of a fit that did)' : 'what is nearest to it';
  list('outliers', content.outliers, `${flagged(content.n_outliers, 'an outlier', 'outliers')}. The highest scores, which tell how unusually far a point is from ${from}:`, 'No scores are known.');
  list('borders', content.borders, `${flagged(content.n_border_points, 'a border point', 'border points')}. The highest scores, where 1 means as near to another group of neurons as to its own:`, 'There is only one neuron.', true);
}

onPick.push(() => {
  panel.classList.toggle('nothing', selected === null && !picked.size);
  if (picked.size) showPicked();
  else if (selected === null) showNothing();
  else showNeuron(selected);
  const { top } = panel.getBoundingClientRect();
  if (selected !== null && top > 0.8 * innerHeight && innerWidth <= 900) scrollBy(0, top - innerHeight / 2); // below the map on a narrow screen
  byId('told').textContent = picked.size ? `Selected: ${counted(picked.size, 'neuron')}` : selected === null ? '' : `Selected: ${toldOf(selected)}`;
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && event.target !== byId('search') && (selected !== null || picked.size)) {
    clearAll();
    map.focus();
  }
});
