import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { pagePolicy } from '../../src/http/security-headers.ts'

test('a source joins the directive of the page, or is a directive of its own', () => {
  const plain = pagePolicy('abc')
  const image = 'https://images.example'
  equal(
    pagePolicy('abc', { 'img-src': image, 'frame-src': 'https://maps.example' }),
    `${plain.replace('; img-src ', `; img-src ${image} `)}; frame-src https://maps.example`,
  )
  equal(pagePolicy('abc', {}), plain)
})
