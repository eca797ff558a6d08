import { ask } from './grid.js'

// The newest run of the benchmark that has a report; an interrupted one has none.

const line = document.querySelector('#report')

/** Links it, if there is one. */
export async function linkReport() {
  const run = await findRun()
  if (run === undefined) return
  const others = ['report.md', 'result.json'].filter((file) => run.files.includes(file))
  line.replaceChildren(
    createLink(`${run.url}report.html`, `Report of ${formatTime(run.name)}`),
    ...others.flatMap((file) => [' · ', createLink(run.url + file, file)]),
  )
}

function createLink(href, text) {
  return Object.assign(document.createElement('a'), { href, textContent: text })
}

async function findRun() {
  const runs = (await list('/results/')).filter(({ type }) => type === 'directory')
  runs.sort((a, b) => Date.parse(b.mtime) - Date.parse(a.mtime) || b.name.localeCompare(a.name))
  for (const { name } of runs) {
    const url = `/results/${encodeURIComponent(name)}/`
    const files = (await list(url)).map((file) => file.name)
    if (files.includes('report.html')) return { name, url, files }
  }
}

/** A directory as NGINX lists it (autoindex_format json); nothing for one with a name that it does not serve. */
async function list(url) {
  const response = await ask(url)
  return response.ok ? response.json() : []
}

/** `2026-11-21 09:13 UTC` for `2026-11-21T09-13-40`, as the report says it; a name that someone chose stays. */
function formatTime(name) {
  return name.replace(/^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-\d\d$/, '$1 $2:$3 UTC')
}
