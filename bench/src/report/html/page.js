// Runs inside report.html: sorting and filtering. Without it the page is complete, in the order of the report.

for (const table of document.querySelectorAll('table')) {
  for (const heading of table.tHead?.rows[0]?.cells ?? []) {
    if ('sortable' in heading.dataset) makeSortable(table, heading)
  }
}

/** Puts a button into a heading. The first press sorts names upwards, and figures downwards. */
function makeSortable(table, heading) {
  const button = document.createElement('button')
  button.type = 'button'
  button.append(...heading.childNodes)
  heading.append(button)
  button.addEventListener('click', () => {
    const upwardsFirst = !heading.classList.contains('right')
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

const filter = document.querySelector('#filter')
if (filter !== null) {
  filter.hidden = false
  filter.addEventListener('input', applyFilter)
  filter.addEventListener('submit', (event) => event.preventDefault())
}

/** Hides table rows that have none of the words, and says how many are left. */
function applyFilter() {
  const words = filter.querySelector('input').value.toLowerCase().split(/\s+/).filter(Boolean)
  const rows = [...document.querySelectorAll('tbody tr')]
  for (const row of rows) {
    const text = row.textContent.toLowerCase()
    row.hidden = words.length > 0 && !words.some((word) => text.includes(word))
  }
  const shown = rows.filter((row) => !row.hidden).length
  filter.querySelector('output').textContent = `${shown} of ${rows.length} rows shown`
}
