/** Formats euros in English, like `Intl.NumberFormat`, which not every engine has. The amount is below 1000 euros, so it needs no thousands separator. */
export function formatPrice(cents: number): string {
  const fraction = cents % 100
  return `€${(cents - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction}`
}
