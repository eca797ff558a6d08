// Runs inside report.html: sorting and filtering. Without it the page is complete, in the order of the report.

for (const table of document.querySelectorAll('table')) {
  for (const heading of table.tHead?.rows[0]?.cells ?? []) {
    if ('sortable' in heading.dataset) makeSortable(table, heading)
  }
}

/** Puts a button into a heading. The first press sorts names and ranks upwards, and figures downwards. */
function makeSortable(table, heading) {
  const button = document.createElement('button')
  button.type = 'button'
  button.append(...heading.childNodes)
  heading.append(button)
  button.addEventListener('click', () => {
    const upwardsFirst = heading.cellIndex < 2
    const now = heading.getAttribute('aria-sort')
    const upwards = now === null ? upwardsFirst : now !== 'ascending'
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort')
    heading.setAttribute('aria-sort', upwards ? 'ascending' : 'descending')
    sortRows(table.tBodies[0], heading.cellIndex, upwards ? 1 : -1)
  })
}

/** Rows without a value come last, whatever the direction. */
function sortRows(body, column, sign) {
  const numeric = [...body.rows].some((row) => row.cells[column]?.dataset.value !== undefined)
  const keyOf = (row) => {
    const cell = row.cells[column]
    if (!numeric) return cell?.textContent
    return cell?.dataset.value === undefined ? undefined : Number(cell.dataset.value)
  }
  const compare = (a, b) => (numeric ? a - b : a.localeCompare(b))
  const rows = [...body.rows].map((row) => ({ row, key: keyOf(row) }))
  rows.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined)
    return sign * compare(a.key, b.key)
  })
  body.append(...rows.map(({ row }) => row))
}

/** A page about one server has nothing to choose from. */
const filter = document.querySelector('#filter')
if (filter !== null) startFilter()

function startFilter() {
  filter.hidden = false
  filter.addEventListener('change', applyFilter)
  // The fields are reset after their event.
  filter.addEventListener('reset', () => setTimeout(applyFilter))
  filter.addEventListener('submit', (event) => event.preventDefault())
  applyFilter()
}

/** Hides what is of another role, topology or framework, and says how many cells are left. */
function applyFilter() {
  const role = filter.elements.role.value
  const topology = filter.elements.topology.value
  const frameworks = new Set([...filter.querySelectorAll('input:checked')].map((box) => box.value))
  for (const element of document.querySelectorAll('[data-role], [data-framework]')) {
    const { role: ownRole, topology: ownTopology, framework } = element.dataset
    element.hidden =
      (role !== '' && ownRole !== undefined && ownRole !== role) ||
      (topology !== '' && ownTopology !== undefined && ownTopology !== topology) ||
      (framework !== undefined && !frameworks.has(framework))
  }
  const cells = [...document.querySelectorAll('[data-cell]')]
  const shown = cells.filter((cell) => cell.closest('[hidden]') === null)
  filter.querySelector('output').textContent = `${shown.length} of ${cells.length} rows shown`
}
