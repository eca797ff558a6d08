import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeLittlesLaw } from '../../../src/judge/gates.ts'
import type { DriverRecord } from '../../../src/model/provenance.ts'
import { countedOf, createLaunch, createSpec } from '../../fixtures/evidence.ts'

const cell = createSpec({ connections: 64 })
const driver: DriverRecord = { name: 'wrk', version: '4.1.0', ceiling: null }

/** Seconds at which 50,000 responses per second have so many requests in flight. */
const latencyFor = (inFlight: number) => ({ meanLatency: inFlight / 50_000 })

test('rate × mean latency is the number of connections, within 10 %', () => {
  const judge = (inFlight: number) =>
    judgeLittlesLaw({ cell, driver, counted: countedOf([createLaunch(latencyFor(inFlight))]) })
  for (const inFlight of [64, 58, 70]) assert.equal(judge(inFlight).verdict, 'passed', `${inFlight}`)
  for (const inFlight of [57, 71, 0]) assert.equal(judge(inFlight).verdict, 'failed', `${inFlight}`)
  assert.match(judge(32).finding, /^rate × mean latency is 32\.0 requests in flight on 64 connections/)
  assert.match(judge(32).advice ?? '', /^wrk /)
})

test('requests weigh alike, whatever the length of their slice; disturbed slices are left out', () => {
  const long = { seconds: 2, requests: 10_000, meanLatency: 64 / 5000 }
  const launches = [createLaunch(long, latencyFor(64), { ...latencyFor(1), disturbed: true })]
  const { verdict, finding } = judgeLittlesLaw({ cell, driver, counted: countedOf(launches) })
  assert.equal(verdict, 'passed')
  assert.match(finding, / 64\.0 requests/)
})

test('it is not meant for our own generator, and tells nothing without a slice', () => {
  const own: DriverRecord = { ...driver, name: 'startgrid' }
  assert.equal(
    judgeLittlesLaw({ cell, driver: own, counted: countedOf([createLaunch(latencyFor(1))]) }).verdict,
    'not meant',
  )
  assert.equal(judgeLittlesLaw({ cell, driver, counted: [] }).verdict, 'unknown')
})
