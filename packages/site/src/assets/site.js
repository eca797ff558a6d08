// Runs in the pages Results and Claims. Without it they are complete, one part below the other. What is chosen is in the address.

const state = new URLSearchParams(location.search)

/** Fills a form from the address, and the address from the form. */
function remember(form, show) {
  for (const field of form.elements) {
    const wanted = state.get(field.name)
    if ([...(field.options ?? [])].some(({ value }) => value === wanted)) field.value = wanted
  }
  form.hidden = false
  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('change', () => {
    for (const { name, value } of form.elements) if (name !== '') state.set(name, value)
    show()
    history.replaceState(null, '', `?${state}${location.hash}`)
  })
}

const race = document.querySelector('#pick')
if (race !== null) {
  const { machine, role, topology } = race.elements
  const show = () => {
    for (const part of document.querySelectorAll('[data-machine]'))
      part.hidden = part.dataset.machine !== machine.value
    for (const part of document.querySelectorAll('[data-role]'))
      part.hidden = part.dataset.role !== role.value || part.dataset.topology !== topology.value
  }
  remember(race, show)
  show()
}

const claims = document.querySelector('#claims')
if (claims !== null) {
  const { verdict, machine } = claims.elements
  const show = () => {
    const rows = [...document.querySelectorAll('[data-verdict]')]
    for (const row of rows) row.hidden = verdict.value !== '' && row.dataset.verdict !== verdict.value
    for (const part of document.querySelectorAll('[data-claims]'))
      part.hidden = machine.value !== '' && part.dataset.claims !== machine.value
    for (const study of document.querySelectorAll('[data-claims] section'))
      study.hidden = study.querySelector('[data-verdict]:not([hidden])') === null
    const count = rows.filter((row) => row.closest('[hidden]') === null).length
    claims.querySelector('output').textContent = `${count} of ${rows.length} claims`
  }
  remember(claims, show)
  show()
}
