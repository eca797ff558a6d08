/**
 * The situations in which the contract allows several outcomes, and these outcomes. docs/manners.md is this list with the outcomes of every
 * framework.
 */
export const SITUATIONS = {
  'other-method': {
    about: '`POST`, `PUT`, `PATCH` or `DELETE` on a path that has only `GET`',
    manners: ['405', '404', '501'],
  },
  'rare-method': {
    about: '`PROPFIND` or `TRACE` on a path that has only `GET`',
    manners: ['405', '404', '501'],
  },
  'rare-method-unknown-path': {
    about: '`PROPFIND` on an unknown path',
    manners: ['404', '405', '501'],
  },
  options: { about: '`OPTIONS` on a known path', manners: ['200', '204', '405', '404', '501'] },
  allow: {
    about: '`Allow` in a 405, or in the response to `OPTIONS`',
    manners: ['GET, HEAD', 'GET, HEAD, OPTIONS'],
  },
  'asterisk-options': { about: '`OPTIONS *`', manners: ['200', '204', '400', '404', '405', '501'] },
  'text-type': {
    about: 'The spelling of `content-type` for text',
    manners: [
      'text/plain; charset=utf-8',
      'text/plain;charset=utf-8',
      'text/plain; charset=UTF-8',
      'another spelling',
    ],
  },
  'json-charset': {
    about: '`application/json` with `charset=utf-8`',
    manners: ['with', 'without'],
  },
  'problem-charset': {
    about: '`application/problem+json` with `charset=utf-8`',
    manners: ['with', 'without'],
  },
  'health-charset': {
    about: '`application/health+json` with `charset=utf-8`',
    manners: ['with', 'without'],
  },
  framing: {
    about: 'The framing of a response of known length',
    manners: ['content-length', 'chunked'],
  },
  'head-length': { about: '`content-length` in the response to `HEAD`', manners: ['sent', 'not sent'] },
  'head-type': { about: '`content-type` of text in the response to `HEAD`', manners: ['sent', 'not sent'] },
  'url-host': {
    about: 'A `Host` that is a name, but not in a URL, such as `a:99999` or `1.2.3.4.5`',
    manners: ["the route's response", '400'],
  },
  'bad-escape': {
    about: 'An escape in the path that does not decode, such as `%zz` or `%FF`',
    manners: ['400', '404', "the route's response with that text"],
  },
  nul: { about: '`%00` in the path', manners: ['400', '404', "the route's response with that text"] },
  'empty-parameter': {
    about: 'A path whose last parameter is empty, such as `/hello/`',
    manners: ['404', '400'],
  },
  directory: { about: '`/assets/`, the directory of the static files', manners: ['404', '403'] },
  'escaped-letter': {
    about: 'An escaped letter in the fixed part of a path, such as `/%6Ason`',
    manners: ['the same path', '404'],
  },
  'dot-segments': { about: '`.` and `..` in the path', manners: ['as sent', 'resolved'] },
  'escaped-dot-segments': { about: '`%2E` and `%2E%2E` in the path', manners: ['as sent', 'resolved'] },
  'leading-zero': { about: '`items=05`', manners: ['5', '400'] },
  exponent: { about: '`items=1e3`', manners: ['1000', '400'] },
  signed: { about: '`items=%2B5`', manners: ['5', '400'] },
  'negative-zero': { about: '`items=-0`', manners: ['0', '400'] },
  padded: { about: '`items=%205`, with a space', manners: ['5', '400'] },
  'decimal-point': { about: '`items=5.0`', manners: ['5', '400'] },
  hexadecimal: { about: '`items=0x10`', manners: ['16', '400'] },
  empty: { about: '`items=`', manners: ['0', '400'] },
  'body-on-get': {
    about: 'A small body on `GET`',
    manners: ['ignored', '400', '413', '415'],
  },
  'large-body-on-get': {
    about: '`GET` with a `content-length` over the limit',
    manners: ['ignored', '400', '413', '415'],
  },
  'malformed-body': {
    about: '`POST` of malformed JSON to a path that has only `GET`',
    manners: ['as without a body', '400', '413', '415'],
  },
  'large-body': {
    about: '`POST` with a `content-length` over the limit to a path that has only `GET`',
    manners: ['as without a body', '400', '413', '415'],
  },
  'large-body-unknown-path': {
    about: '`POST` with a `content-length` over the limit to an unknown path',
    manners: ['as without a body', '400', '413', '415'],
  },
  'refused-connection': {
    about:
      'The connection after a request that is refused before any route, such as one with two `Host` headers',
    manners: ['closed', 'open'],
  },
  coding: { about: 'The coding of a static file if `br` and `gzip` are accepted', manners: ['br', 'gzip'] },
  etag: { about: '`etag` on a static file', manners: ['sent', 'not sent'] },
  'not-modified': { about: 'A static file whose `etag` is in `if-none-match`', manners: ['304', '200'] },
  'last-modified': { about: '`last-modified` on a static file', manners: ['sent', 'not sent'] },
  'accept-ranges': { about: '`accept-ranges` on a static file', manners: ['sent', 'not sent'] },
  range: { about: 'A range of a static file', manners: ['206', 'the whole file'] },
} as const satisfies Readonly<Record<string, { about: string; manners: readonly string[] }>>

export type Situation = keyof typeof SITUATIONS

/** The outcomes of a server by situation, in the order of `SITUATIONS`. Several if they vary. */
export type Manners = Readonly<Partial<Record<Situation, readonly string[]>>>

/** One outcome that the contract allows. */
export type Manner = readonly [situation: Situation, manner: string]

/** Collects what a server shows. */
export class MannersRecord {
  readonly #shown = new Map<Situation, Set<string>>()

  /**
   * Records an outcome.
   * @throws {RangeError} if the contract does not allow it: a check must not record it
   */
  add([situation, manner]: Manner): void {
    const allowed: readonly string[] = SITUATIONS[situation].manners
    if (!allowed.includes(manner))
      throw new RangeError(`'${manner}' is not among the manners of ${situation}.`)
    const shown = this.#shown.get(situation) ?? new Set()
    this.#shown.set(situation, shown.add(manner))
  }

  /** What was noted, in the order of `SITUATIONS`. */
  read(): Manners {
    const entries = (Object.keys(SITUATIONS) as Situation[]).flatMap((situation) => {
      const shown = this.#shown.get(situation)
      if (shown === undefined) return []
      return [[situation, SITUATIONS[situation].manners.filter((manner) => shown.has(manner))] as const]
    })
    return Object.fromEntries(entries)
  }
}
