/** Formats prices like `Intl.NumberFormat`, which some JavaScript engines lack. */

export interface PriceFormat {
  decimal: '.' | ','
  before: string
  after: string
}

export const ENGLISH: PriceFormat = { decimal: '.', before: '€', after: '' }
export const GERMAN: PriceFormat = { decimal: ',', before: '', after: '\u00a0€' }
export const FRENCH: PriceFormat = GERMAN

/** Formats an amount below 1000 euros, so it needs no thousands separator. */
export function formatPrice(cents: number, { decimal, before, after }: PriceFormat): string {
  const fraction = cents % 100
  return `${before}${(cents - fraction) / 100}${decimal}${fraction < 10 ? '0' : ''}${fraction}${after}`
}
