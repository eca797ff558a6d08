const WORDS =
  'assam black darjeeling earl green grey honeyed jasmine keemun lapsang oolong pekoe rooibos sencha souchong white'
const NAMES = WORDS.split(' ')

/** Words that repeat as those of a shop do: gzip makes about a sixth of them. */
function item(number: number): string {
  const name = [7, 11, 13].map((step) => NAMES[(number * step) % NAMES.length]).join(' ')
  return `<li id="item-${number}"><a href="/tea/${name.replaceAll(' ', '-')}">${name}</a> <b>${(number * 37) % 90}.50</b></li>`
}

/** A page of about 10 KB. */
const PAGE = `<!doctype html><title>Tea</title><ul>${Array.from({ length: 110 }, (_, number) => item(number)).join('')}</ul>`

/** As many bytes as the file of the source had: 127. */
const SMALL = '<!doctype html><title>Tea</title><p>'.padEnd(127, 'One of each, please. ')

/** Bodies by path. */
export const PAGES: Readonly<Record<string, string>> = { '/small': SMALL, '/page': PAGE }
