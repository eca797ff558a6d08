import type { Request } from '../src/request.ts'

/** What is passed on. Any other header would speak for this origin, such as cookies and policies, or is about another connection. */
const PASSED = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'retry-after',
]

export default { keepListed }

function keepListed({ headersOut }: Request): void {
  for (const name of Object.keys(headersOut))
    if (!PASSED.includes(name.toLowerCase())) delete headersOut[name]
}
