// Search: groups and ops that have all words, as a list below the field. A click goes to a hit; Enter goes from op to op.

const HIT_HEIGHT = 22;
const HIT_ROWS = 12;

class Search {
  constructor(field, box, found, state) {
    Object.assign(this, { field, box, found, state, hits: [], matches: [], active: -1 });
    this.list = new List(box, HIT_HEIGHT, 0, 'option', (row, index) => this.fillHit(row, this.hits[index]));
    field.addEventListener('input', () => this.look());
    field.addEventListener('focus', () => this.show(this.hits.length > 0));
    field.addEventListener('blur', () => this.show(false));
    field.addEventListener('keydown', (event) => this.key(event));
    // The field keeps the focus, so that the list stays.
    box.addEventListener('mousedown', (event) => event.preventDefault());
    box.addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row) this.go(Number(row.dataset.index));
    });
  }

  look() {
    const words = wordsOf(this.field.value);
    this.matches = words.length ? ops.flatMap((op, index) => (hasWords(index, words) ? [index] : [])) : [];
    const groups = words.length && GROUPINGS.module.isOffered ? [...groupTree('module').byId.values()] : [];
    const hasAll = (group) => words.every((word) => group.id.toLowerCase().includes(word));
    this.hits = [...groups.filter(hasAll).map((group) => ({ kind: 'group', index: group.index })),
      ...this.matches.map((index) => ({ kind: 'op', index }))];
    this.active = -1;
    this.found.textContent = words.length ? plural(this.matches.length, 'op') : '';
    this.box.scrollTop = 0;
    this.show(this.hits.length > 0);
  }

  show(isShown) {
    this.box.hidden = !isShown;
    this.field.setAttribute('aria-expanded', isShown);
    if (!isShown) return;
    this.box.classList.toggle('at-right', this.field.getBoundingClientRect().left + this.box.offsetWidth > window.innerWidth);
    this.box.style.height = `${Math.min(this.hits.length, HIT_ROWS) * HIT_HEIGHT + 2}px`;
    this.list.clear(this.hits.length);
    this.list.update();
    this.mark();
  }

  mark() {
    this.list.mark('selected', (index) => index === this.active);
    for (const [index, row] of this.list.rows) row.setAttribute('aria-selected', index === this.active);
    if (this.active < 0) this.field.removeAttribute('aria-activedescendant');
    else this.field.setAttribute('aria-activedescendant', `hits-${this.active}`);
  }

  move(by) {
    if (!this.hits.length) return;
    this.active = Math.min(Math.max(this.active + by, 0), this.hits.length - 1);
    if (this.box.hidden) this.show(true);
    this.list.reveal(this.active);
    this.mark();
  }

  go(index) {
    const { kind, index: at } = this.hits[index];
    this.show(false);
    choose(kind, at);
  }

  key(event) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') this.move(event.key === 'ArrowDown' ? 1 : -1);
    else if (event.key === 'Escape') this.show(false);
    else if (event.key === 'Enter' && this.active >= 0) this.go(this.active);
    else if (event.key === 'Enter' && this.matches.length) {
      const behind = this.matches.find((op) => op > (this.state.op() ?? -1));
      choose('op', behind ?? this.matches[0]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  fillHit(row, { kind, index }) {
    row.classList.add('hit');
    if (kind === 'group') {
      const group = allGroups[index];
      row.append(make('span', 'number', plural(group.nOps, 'op')), make('span', 'hit-name place', make('bdi', '', group.id)));
      row.classList.add('is-group');
      return;
    }
    const op = ops[index];
    const where = op.module ? make('span', 'dim place', make('bdi', '', op.module)) : placeElement(op.location);
    row.append(make('span', 'number', index), make('span', 'hit-name', op.function), where);
  }
}
