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
  const pair = document.querySelector('#pair')
  const figures = JSON.parse(document.querySelector('#figures').textContent)
  const { machine, role, topology } = race.elements
  const { a, b } = pair.elements
  const show = () => {
    for (const part of document.querySelectorAll('[data-machine]'))
      part.hidden = part.dataset.machine !== machine.value
    for (const part of document.querySelectorAll('[data-role]'))
      part.hidden = part.dataset.role !== role.value || part.dataset.topology !== topology.value
    const apps = figures[machine.value][`${role.value} ${topology.value}`] ?? {}
    offer(a, apps, 0)
    offer(b, apps, 1)
    pair.querySelector('output').replaceChildren(...describe(apps))
  }
  const describe = (apps) => {
    const [first, second] = [apps[a.value], apps[b.value]]
    if (first === undefined || second === undefined) return ['This machine has no figures of them.']
    if (first === second) return ['Choose two different apps.']
    const [ratio, isShown] = first.over[b.value]
    const pairless = ratio.includes('(') ? '' : ' This result stored no interval for the pair.'
    const finding = isShown
      ? `${a.value} serves ${ratio} times the requests per second of ${b.value}.`
      : `No difference shown: ${a.value} over ${b.value} is ${ratio} by requests per second.`
    const lines = [
      `CPU per request: ${first.cpu} and ${second.cpu} µs.`,
      `Peak memory: ${first.memory} and ${second.memory} MB.`,
      first.startup === '—'
        ? 'Start-up is not stored.'
        : `Start-up: ${first.startup} and ${second.startup} ms.`,
    ]
    const strong = document.createElement('b')
    strong.textContent = finding
    return [strong, `${pairless} ${lines.join(' ')}`]
  }
  remember(race, show)
  remember(pair, show)
  show()
}

/** Names as options; what was chosen, or is in the address, stays chosen. */
function offer(select, apps, usual) {
  const names = Object.keys(apps).toSorted()
  const wanted = [select.value, state.get(select.name), names[usual]].find((name) => names.includes(name))
  select.replaceChildren(...names.map((name) => new Option(name)))
  select.value = wanted ?? ''
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
