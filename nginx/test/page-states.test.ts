import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '@startgrid/cli/until.ts'
import type { Page, Route } from 'playwright-core'
import { APPS } from './support/landing-page.ts'
import { POLL_MS, skip, statesOf, textOf, untilSummary, useFrontPage } from './support/visit.ts'

/** What the landing page says about the apps, in a real browser with a real NGINX. */

describe('landing page: states', { skip }, () => {
  const { visit, front } = useFrontPage()

  test('everything runs: it says so at a glance, per role and for each way', () =>
    visit({}, async (page) => {
      await untilSummary(page, '12 of 12 respond')
      assert.deepEqual(await page.locator('thead small').allTextContents(), Array(3).fill('4 of 4'))
      assert.deepEqual(await page.locator('.state').allTextContents(), Array(12).fill('ready'))
      assert.equal(await page.locator('#advice').isVisible(), false)
    }))

  test('some are absent: which, and the command that starts them', async () => {
    for (const service of ['koa-hello', 'koa-ssr', 'koa-status', 'fastify-ssr'])
      await front().stub(service).stop()
    await visit({}, async (page) => {
      await untilSummary(page, '4 of 12 respond')
      assert.deepEqual(await page.locator('thead small').allTextContents(), ['2 of 4', '0 of 4', '2 of 4'])
      assert.deepEqual(await statesOf(page, 'koa-ssr'), ['not running', 'no response'])
      assert.deepEqual(await statesOf(page, 'fastify-status'), ['ready', 'ready'])
      assert.match(await textOf(page, '#advice p'), /^4 of 6 apps are not running: fastify ssr, koa\./)
      assert.equal(await textOf(page, '#advice code'), 'docker compose --profile fastify --profile koa up -d')
    })
  })

  test('none runs', async () => {
    for (const { service } of APPS) await front().stub(service).stop()
    await visit({}, async (page) => {
      await untilSummary(page, 'None of 12 responds')
      assert.equal(await textOf(page, '#advice code'), 'docker compose up -d')
    })
  })

  test('what changes shows by itself', async () => {
    await front().stub('koa-ssr').stop()
    await visit({}, async (page) => {
      await untilSummary(page, '10 of 12 respond')
      await front().stub('koa-ssr').start()
      await page.clock.runFor(POLL_MS)
      await untilSummary(page, '12 of 12 respond')
    })
  })

  test('what changes shows at once when asked for', () =>
    visit({}, async (page) => {
      await untilSummary(page, '12 of 12 respond')
      await stopClock(page)
      await front().stub('koa-hello').stop()
      await page.getByRole('button', { name: 'Check now' }).click()
      await untilSummary(page, '10 of 12 respond')
      assert.match(await textOf(page, '#advice p'), /^1 of 6 apps is not running: koa hello\./)
    }))

  test('not ready and too slow are no responses, and no reason to start anything', async () => {
    front().stub('koa-ssr').state = 'fail'
    front().stub('koa-hello').state = 'hang'
    await visit({ expected: /status of 503/ }, async (page) => {
      await untilSummary(page, '8 of 12 respond')
      assert.deepEqual(await statesOf(page, 'koa-ssr'), ['not ready', 'not ready'])
      assert.deepEqual(await statesOf(page, 'koa-hello'), ['too slow', 'too slow'])
      assert.equal(await page.locator('#advice').isVisible(), false)
    })
  })

  test('NGINX itself goes away and comes back', () =>
    visit({ expected: /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/ }, async (page) => {
      await untilSummary(page, '12 of 12 respond')
      await front().stopNginx()
      await page.clock.runFor(POLL_MS)
      await untilSummary(page, 'NGINX does not respond')
      assert.deepEqual(await page.locator('.state').allTextContents(), Array(12).fill('unknown'))
      assert.equal(await textOf(page, '#advice code'), 'docker compose up -d nginx')
      await front().startNginx()
      await page.clock.runFor(POLL_MS)
      await untilSummary(page, '12 of 12 respond')
      assert.equal(await page.locator('#advice').isVisible(), false)
    }))

  test('one request that is lost says nothing about NGINX', () =>
    visit({ url: 'about:blank', expected: /ERR_FAILED/ }, async (page) => {
      await stopClock(page)
      const lose = (route: Route) => route.abort('failed')
      await page.route('**/koa-ssr/direct/readyz?quiet', lose, { times: 1 })
      await page.goto(front().origin)
      await untilSummary(page, '12 of 12 respond')
    }))

  test('a page that nobody sees asks nothing', () =>
    visit({}, async (page) => {
      await untilSummary(page, '12 of 12 respond')
      let asked = 0
      page.on('request', () => asked++)
      await setVisibility(page, 'hidden')
      await page.clock.runFor(10 * POLL_MS)
      assert.equal(asked, 0)
      await front().stub('koa-ssr').stop()
      await setVisibility(page, 'visible')
      await untilSummary(page, '10 of 12 respond')
    }))

  test('at most six questions at a time', () =>
    visit({ url: 'about:blank' }, async (page) => {
      const held: Route[] = []
      let most = 0
      await page.route('**/readyz?quiet', (route) => {
        most = Math.max(most, held.push(route))
      })
      await page.goto(front().origin)
      for (let left = 12; left > 0; left--) {
        // Held back as long as more may come.
        await until('too few requests were held', () => held.length >= Math.min(6, left))
        await held.shift()?.fulfill({ json: { status: 'pass' } })
      }
      await untilSummary(page, '12 of 12 respond')
      assert.equal(most, 6)
    }))
})

/** From here on the page does nothing by itself. */
function stopClock(page: Page): Promise<void> {
  return page.clock.pauseAt(Date.now() + 1_000)
}

async function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
}
