import { expect, it } from 'vitest'
import { fileNameOf, readZip } from './log-download.tsx'

const zip = new Uint8Array(1000)
zip.set([0x50, 0x4b])

const answer = (chunks: Uint8Array[], { type = 'application/zip', cut = false } = {}) =>
  new Response(
    new ReadableStream({
      pull(controller) {
        const next = chunks.shift()
        if (next) controller.enqueue(next)
        else if (cut) controller.error(new TypeError('network error'))
        else controller.close()
      },
    }),
    { headers: { 'content-type': type } },
  )

it('returns the bytes and reports progress', async () => {
  const reported: number[] = []
  const blob = await readZip(answer([zip.subarray(0, 400), zip.subarray(400)]), (bytes) => reported.push(bytes))
  expect(new Uint8Array(await blob.arrayBuffer())).toEqual(zip)
  expect(reported[0]).toBe(400)
})

it.each([
  ['that is interrupted', answer([zip.subarray(0, 500)], { cut: true }), /interrupted/],
  ['with JSON', answer([new TextEncoder().encode('{}')], { type: 'application/json' }), /received application\/json/],
  ['with HTML labeled as zip', answer([new TextEncoder().encode('<html>'.repeat(10))]), /not a zip file/],
  ['without content', answer([]), /not a zip file/],
])('rejects a response %s', async (_, response, reason) => {
  await expect(readZip(response, () => undefined)).rejects.toThrow(reason)
})

it('makes a safe file name', () => {
  expect(fileNameOf('nightly / "run"\r\n../x', 'bmr_1')).toBe('nightly-run-..-x-bmr_1-logs.zip')
  expect(fileNameOf('', 'bmr_1')).toBe('bmr_1-logs.zip')
  expect(fileNameOf('../..', 'bmr_1')).toBe('bmr_1-logs.zip')
})
