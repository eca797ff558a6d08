/**
 * What may be told of a command that a person typed: its program, its files, and the names of flags and variables. Values may be secret, so they are
 * in no file and no name.
 */

/** Stands for what is not told. */
const HIDDEN = '…'

/** Programs that start what the next word names, or go there. */
const LAUNCHER =
  /(?:^|\/)(?:bash|bunx?|cd|command|deno|dlx|dotnet|env|exec|go|granian|gunicorn|hypercorn|java|nice|node|nodemon|nohup|np[mx]|perl|php|pnp[mx]|python|ruby|run|setsid|sh|stdbuf|task|taskset|time|timeout|ts-node|tsx|uvicorn|yarn)[\d.-]*$/

/** After these, the next word is no value. */
const FLAGS_WITHOUT_VALUE = /^(?:-y|--yes|-q|--quiet|-s|--silent)$/

const SOURCE = /\.(?:[cm]?[jt]sx?|py|rb|ru|php|go|jar|sh|pl|lua|exs?|wasm|dll)$/

/** A word with its quotes, or what separates commands. */
const TOKENS = /(?:[^\s'"\\`;&|()<>]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+|&&|\|\||[\n`;&|()<>]/g

interface Word {
  /** As it may be told. */
  text: string
  kind: 'program' | 'file' | 'name' | 'hidden' | 'operator'
}

/**
 * `DB_PASSWORD=… node …/server.js --token …` of `DB_PASSWORD=hunter2 node /home/me/server.js --token x`: no value, and no directory of the
 * machine.
 */
export function withoutValues(line: string): string {
  return wordsOf(line)
    .map(({ text }) => text.replace(/^[/~].*(?=\/)/, HIDDEN))
    .join(' ')
}

function wordsOf(line: string): Word[] {
  // What follows `<<` is text.
  const tokens = line.split('<<', 1)[0]?.match(TOKENS) ?? []
  const words: Word[] = []
  /** What a plain word would be. */
  let next: 'program' | 'hidden' = 'program'
  for (const [index, token] of tokens.entries()) {
    const word = wordOf(token, tokens.slice(0, index), next)
    words.push(word)
    if (word.kind === 'operator') next = /[<>]/.test(token) ? 'hidden' : 'program'
    else if (word.kind === 'program' && !LAUNCHER.test(token)) next = 'hidden'
  }
  return words
}

function wordOf(token: string, before: readonly string[], next: 'program' | 'hidden'): Word {
  if (/^[\n`;&|()<>]/.test(token)) return { text: token, kind: 'operator' }
  if (token === '{port}') return { text: token, kind: 'hidden' }
  const [, name] = /^((?:--)?[A-Za-z_][\w.-]*)\+?=/.exec(token) ?? []
  if (name !== undefined) return { text: `${name}=${HIDDEN}`, kind: 'name' }
  // A value may follow the letter at once: -phunter2.
  const [flag] = /^(?:--[A-Za-z][\w-]*|-[A-Za-z])/.exec(token) ?? []
  if (flag !== undefined) return { text: flag === token ? flag : `${flag}${HIDDEN}`, kind: 'name' }
  const isSafe = /^[A-Za-z_./@~][\w@./:+~-]*$/.test(token) && !/:\/\/|:.*@/.test(token)
  if (!isSafe) return { text: HIDDEN, kind: 'hidden' }
  const [launcher = '', flagBefore = ''] = ['', '', ...before].slice(-2)
  const isModule = flagBefore === '-m' && /python[\d.]*$/.test(launcher)
  const isValue = /^-[^=]*$/.test(flagBefore) && !FLAGS_WITHOUT_VALUE.test(flagBefore)
  if (next === 'program' && (!isValue || isModule)) return { text: token, kind: 'program' }
  return SOURCE.test(token) ? { text: token, kind: 'file' } : { text: HIDDEN, kind: 'hidden' }
}

const LONGEST_NAME = 30

/**
 * What serves, as its file or program is called: `before` and `after` of `node before.js` and `node after.js`. Where that does not tell them apart, they
 * are A and B.
 * @param lines commands and addresses
 */
export function namesOf(lines: readonly string[]): string[] {
  const trimmed = lines.map((line) => line.trim())
  const different = [...new Set(trimmed)]
  const names = different.map((line) => mainOf(line).slice(0, LONGEST_NAME))
  const areTold = names.every((name) => /^\w/.test(name)) && new Set(names).size === names.length
  return trimmed.map((line, index) => {
    const place = different.indexOf(line)
    const letter = String.fromCharCode('A'.charCodeAt(0) + trimmed.indexOf(line))
    const name = areTold ? (names[place] ?? '') : letter
    const times = trimmed.slice(0, index).filter((one) => one === line).length
    return times === 0 ? name : `${name} (again${times === 1 ? '' : ` ${times}`})`
  })
}

/** Its file or program; empty if there is none but what starts it. */
function mainOf(line: string): string {
  if (/^https?:/.test(line)) return URL.parse(line)?.host ?? ''
  if (line.startsWith('unix:')) return bareOf(line)
  const all = wordsOf(line)
  const own = all.slice(all.findLastIndex(({ text }) => /^(?:\n|;|&&)$/.test(text)) + 1)
  const launched = own.filter(({ kind, text }) => kind === 'program' && !LAUNCHER.test(text))
  const file = own.findLast(({ kind }) => kind === 'file')
  return bareOf((launched.find(({ text }) => SOURCE.test(text)) ?? launched[0] ?? file)?.text ?? '')
}

function bareOf(word: string): string {
  return word.replace(/^.*\/(?=.)/, '').replace(SOURCE, '') || word
}
