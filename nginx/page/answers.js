import { ask, frameworkOf, originOf } from './grid.js'

// What an app answers on its main route, both ways side by side: status, headers, and the beginning of the body.

const SHOWN = 600

const dialog = document.querySelector('#answers')
const progress = dialog.querySelector('[role="status"]')

/** Opens the dialog at once and fills it in when the answers are there. */
export async function showAnswers(cell) {
  const { service, role, path } = cell.dataset
  dialog.querySelector('h2').textContent = `${frameworkOf(cell)} ${role}: GET ${path}`
  dialog.dataset.service = service
  progress.textContent = 'Asking.'
  for (const output of dialog.querySelectorAll('pre')) output.textContent = ''
  dialog.showModal()
  await Promise.all(
    [...cell.querySelectorAll('[data-topology]')].map((way) => showAnswer(way, service, path)),
  )
  if (dialog.dataset.service === service) progress.textContent = 'Answered.'
}

async function showAnswer(way, service, path) {
  const section = dialog.querySelector(`[data-answer="${way.dataset.topology}"]`)
  section.querySelector('code').textContent = `curl -i ${way.querySelector('a').href}`
  const answer = await askAnswer(originOf(way) + path)
  // Another app may have been asked in the meantime.
  if (dialog.dataset.service === service) section.querySelector('pre').textContent = answer
}

async function askAnswer(url) {
  try {
    const response = await ask(url)
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\n`)
    const body = await response.text()
    const cut = body.length > SHOWN ? `\n[and ${body.length - SHOWN} characters more]` : ''
    return `${response.status} ${response.statusText}\n${headers.join('')}\n${body.slice(0, SHOWN)}${cut}`
  } catch (error) {
    return error.name === 'TimeoutError' ? 'No answer in time.' : 'NGINX does not answer.'
  }
}
