// Regions of a drawing, by a rectangle or a lasso: corners of what was dragged over.
let tool = null; // null, 'rectangle' or 'lasso'

function regionTools() {
  const tools = ['rectangle', 'lasso'].map((name) => button(name[0].toUpperCase() + name.slice(1), () => {
    tool = tool === name ? null : name;
    tools.forEach((each) => each.setAttribute('aria-pressed', String(each.dataset.tool === tool)));
    document.documentElement.classList.toggle('choosing', tool !== null);
  }, { 'data-tool': name, 'aria-pressed': 'false', title: `Drag a ${name} to select neurons` }));
  return tools;
}

// Dragging over a drawing with a tool, or a rectangle with Shift: `found` gets the corners of the region.
function regionsOf(drawing, placeIn, found) {
  const line = s('path', { class: 'region' });
  let region = null;
  let swallow = false;
  drawing.addEventListener('pointerdown', (event) => {
    swallow = false;
    if (event.button !== 0 || !(tool || event.shiftKey)) return;
    event.stopPropagation();
    event.preventDefault(); // nothing is marked as text
    region = { shape: tool ?? 'rectangle', corners: [placeIn(event)] };
    drawing.setPointerCapture(event.pointerId);
    drawing.append(line);
  }, true);
  drawing.addEventListener('pointermove', (event) => {
    if (!region) return;
    const [x, y] = placeIn(event);
    const [[x0, y0]] = region.corners;
    if (region.shape === 'rectangle') region.corners = [[x0, y0], [x, y0], [x, y], [x0, y]];
    else region.corners.push([x, y]);
    line.setAttribute('d', 'M' + region.corners.map((corner) => corner.map(rounded)).join('L') + 'Z');
  });
  drawing.addEventListener('pointerup', () => {
    if (!region) return;
    const { corners } = region;
    region = null;
    line.removeAttribute('d');
    line.remove();
    swallow = corners.length > 2;
    if (swallow) found(corners);
  });
  drawing.addEventListener('click', (event) => { if (swallow) event.stopImmediatePropagation(); }, true);
}
