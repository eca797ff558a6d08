/** The catalogue: a thousand teas, each computed from its number. */

export const PRODUCTS = 1000

export interface Product {
  /** Its part of a URL: lower-case words, joined by hyphens. */
  slug: string
  name: string
  /** Such as `black`: a class of page.css. */
  leaf: string
  country: string
  /** When it was picked. */
  season: string
  /** Price of 100 g in euro cents. */
  cents: number
  /** Brewing temperature in °C. */
  celsius: number
  minutes: number
}

const LEAVES: readonly { leaf: string; label: string; celsius: number; minutes: number }[] = [
  { leaf: 'black', label: 'Black', celsius: 95, minutes: 4 },
  { leaf: 'green', label: 'Green', celsius: 75, minutes: 2 },
  { leaf: 'oolong', label: 'Oolong', celsius: 90, minutes: 3 },
  { leaf: 'white', label: 'White', celsius: 80, minutes: 5 },
  { leaf: 'yellow', label: 'Yellow', celsius: 80, minutes: 3 },
]

const PLACES: readonly { place: string; country: string }[] = [
  { place: 'Assam', country: 'India' },
  { place: 'Uji', country: 'Japan' },
  { place: 'Alishan', country: 'Taiwan' },
  { place: 'Fuding', country: 'China' },
  { place: 'Darjeeling', country: 'India' },
  { place: 'Jeju', country: 'Korea' },
  { place: 'Yunnan', country: 'China' },
  { place: 'Dimbula', country: 'Sri Lanka' },
  { place: 'Kericho', country: 'Kenya' },
  { place: 'Nilgiri', country: 'India' },
]

const SEASONS = ['spring', 'summer', 'autumn']

const NOTES = (
  'Honeyed Smoky Malty Floral Nutty Citrus Toasted Silky Mellow Bright ' +
  'Buttery Spiced Plum Orchid Apricot Mineral Meadow Golden Misty Velvet'
).split(' ')

/**
 * The product with this number. It is pure. Names are unique, because notes × places × leaves are exactly `PRODUCTS`. Each digit below
 * rotates the next one, so that neighbouring products still look different.
 * @param index counted from 0; wraps around at `PRODUCTS`
 */
export function product(index: number): Product {
  const ones = index % 5
  const tens = Math.floor(index / 5) % 10
  const rest = Math.floor(index / 50)
  const { leaf, label, celsius, minutes } = at(LEAVES, ones)
  const { place, country } = at(PLACES, tens + 2 * ones)
  const note = at(NOTES, rest + 7 * tens + 3 * ones)
  const name = `${note} ${place} ${label}`
  const season = at(SEASONS, ones + rest)
  const cents = 390 + 10 * ((index * 37) % 83)
  return { slug: name.toLowerCase().replace(/ /g, '-'), name, leaf, country, season, cents, celsius, minutes }
}

/** The first `count` products. */
export function products(count: number): Product[] {
  const list: Product[] = []
  for (let index = 0; index < count; index += 1) list.push(product(index))
  return list
}

/**
 * What customers also liked: three teas that the list does not show, if there are any left. It is pure, so the browser computes
 * the same result for hydration and does not have to wait for it or read it from the page.
 */
export function recommend(items: number): Product[] {
  return [3, 17, 31].map((step) => product((items + step) % PRODUCTS))
}

/** Formats euros in English, like `Intl.NumberFormat`, which not every engine has. The amount is below 1000 euros, so it needs no thousands separator. */
export function formatPrice(cents: number): string {
  const fraction = cents % 100
  return `€${(cents - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction}`
}

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T
}
