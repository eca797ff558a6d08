import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digamma, logGamma, trigamma, trigammaInverse } from '../src/gamma.ts'
import { near } from './near.ts'

const EULER = 0.5772156649015329

test('gamma at whole and half numbers (DLMF 5.4.1 and 5.4.6)', () => {
  near(logGamma(1), 0)
  near(logGamma(5), Math.log(24))
  near(logGamma(0.5), Math.log(Math.PI) / 2)
  near(logGamma(171), 706.5730622457874, 1e-13)
})

test('digamma at whole and half numbers (DLMF 5.4.12 to 5.4.15)', () => {
  near(digamma(1), -EULER, 1e-14)
  near(digamma(4), -EULER + 1 + 1 / 2 + 1 / 3, 1e-14)
  near(digamma(0.5), -EULER - 2 * Math.LN2, 1e-14)
  near(digamma(2.5), -EULER - 2 * Math.LN2 + 2 + 2 / 3, 1e-14)
})

test('trigamma at whole and half numbers (DLMF 5.15.3 and 5.4.16 differentiated; Abramowitz and Stegun, table 6.1)', () => {
  near(trigamma(1), Math.PI ** 2 / 6, 1e-14)
  near(trigamma(2), Math.PI ** 2 / 6 - 1, 1e-14)
  near(trigamma(0.5), Math.PI ** 2 / 2, 1e-14)
  near(trigamma(1.5), Math.PI ** 2 / 2 - 4, 1e-14)
})

test('the inverse of trigamma agrees with limma', () => {
  // limma::trigammaInverse(c(1, 2, 3)), as Gemma's SpecFuncTest quotes it.
  near(trigammaInverse(1), 1.4262551202150788, 1e-12)
  near(trigammaInverse(2), 0.8766640774642602, 1e-12)
  near(trigammaInverse(3), 0.6754781052813701, 1e-12)
  // The tests of limma's Python port InMoose (tests/limma/test_fitFDist.py).
  near(trigammaInverse(5), 0.4961687, 1e-7)
})

test('the inverse of trigamma undoes it over twelve decades', () => {
  for (let exponent = -5; exponent <= 6; exponent++) {
    const y = 10 ** exponent
    assert.ok(Math.abs(trigamma(trigammaInverse(y)) / y - 1) < 1e-9, `at ${y}`)
  }
})

test('beyond the ends the inverse is asymptotic', () => {
  near(trigammaInverse(1e-8), 1e8, 1e-6)
  near(trigammaInverse(1e9), 1 / Math.sqrt(1e9))
})
