// Which part of the map is seen: buttons, + and - zoom, 0 shows all, dragging moves.
const NEAREST = 12;
const wholeView = geometry.whole;
let view = wholeView;

function look(there) {
  const closer = there[2] !== view[2];
  view = there;
  map.setAttribute('viewBox', view.map(rounded).join(' '));
  map.classList.toggle('near', view[2] < wholeView[2]);
  if (closer && !lattice) {
    reshape((view[2] / wholeView[2]) ** 0.7);
    find();
  }
  drawGlimpses();
}

function zoom(factor, [x, y] = selected === null ? [view[0] + view[2] / 2, view[1] + view[3] / 2] : at[selected]) {
  const width = Math.min(Math.max(view[2] / factor, wholeView[2] / NEAREST), wholeView[2]);
  if (width === wholeView[2]) return look(wholeView);
  const share = width / view[2];
  return look([x - (x - view[0]) * share, y - (y - view[1]) * share, width, view[3] * share]);
}
Object.assign(keys, { '+': () => zoom(1.5), '-': () => zoom(1 / 1.5), 0: () => look(wholeView) });

function placeOf(event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
  return [point.x, point.y];
}
map.addEventListener('wheel', (event) => {
  if (!event.ctrlKey) return; // the wheel alone scrolls the page
  event.preventDefault();
  zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, placeOf(event));
}, { passive: false });

let grip = null;
let dragged = false;
map.addEventListener('pointerdown', (event) => {
  dragged = false;
  if (view !== wholeView && event.button === 0) grip = [placeOf(event), event.clientX, event.clientY];
});
map.addEventListener('pointermove', (event) => {
  if (!grip || (!dragged && Math.hypot(event.clientX - grip[1], event.clientY - grip[2]) < 4)) return;
  dragged = true;
  const [x, y] = placeOf(event);
  look([view[0] + grip[0][0] - x, view[1] + grip[0][1] - y, view[2], view[3]]);
});
window.addEventListener('pointerup', () => { grip = null; });
map.addEventListener('click', (event) => { if (dragged) event.stopImmediatePropagation(); }, true);

function setUpView() {
  look(wholeView);
  byId('map').append(map);
  document.querySelector('.below').append(h('div', { class: 'zoom', role: 'group', 'aria-label': 'Zoom' },
    button('+', () => zoom(1.5), { 'aria-label': 'Zoom in' }), button('−', () => zoom(1 / 1.5), { 'aria-label': 'Zoom out' }),
    button('All', () => look(wholeView), { 'aria-label': 'Show the whole map' })));
}
