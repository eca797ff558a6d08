import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

/** The colours of report.html can be told from the paper. */

describe('colours', () => {
  const css = readFileSync(new URL('../../../src/report/html/theme.css', import.meta.url), 'utf8')
  const [light = '', dark = ''] = css.split('@media screen and (prefers-color-scheme: dark)')
  for (const [theme, source] of [
    ['light', light],
    ['dark', dark.slice(0, dark.indexOf('@media'))],
  ] as const) {
    const color = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{3,6})`).exec(source)?.[1] ?? ''

    // WCAG 2.2, 1.4.3 and 1.4.11.
    test(`${theme}: text has a contrast of 4.5 on every paper it is on, and lines have 3`, () => {
      for (const paper of ['paper', 'shade'])
        for (const ink of ['ink', 'quiet', 'link', 'bad']) atLeast(4.5, ink, paper)
      for (const [ink, paper] of [
        ['warn', 'warn-paper'],
        ['ink', 'warn-paper'],
      ] as const)
        atLeast(4.5, ink, paper)
      for (const mark of ['dot', 'accent']) atLeast(3, mark, 'paper')
    })

    function atLeast(least: number, ink: string, paper: string): void {
      const found = contrast(color(ink), color(paper))
      assert.ok(found >= least, `${ink} on ${paper}: ${found.toFixed(2)}`)
    }
  }
})

/** Contrast ratio of two colours in hexadecimal (WCAG 2.2, "relative luminance" and "contrast ratio"). */
function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

function luminance(hex: string): number {
  const digits = hex.length === 4 ? hex.replace(/[^#]/g, '$&$&') : hex
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(digits.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
