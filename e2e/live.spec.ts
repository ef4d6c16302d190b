import { rmSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { createClient } from '#lib/client/client.ts'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { expect, isLive, signIn, startProduct, startServiceAlone, test } from './product.ts'

test('ten commands in one page and ten tabs all stay live', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'busy-box' } })
  await page.goto(`${product.url}/devboxes/${id}/commands`)
  await isLive(page)
  const numbers = Array.from({ length: 10 }, (_, i) => i + 1)
  const card = (number: number) => page.getByRole('article', { name: `Command echo running-${number};` })
  for (const number of numbers) {
    await page.getByRole('textbox', { name: 'Command', exact: true }).fill(`echo running-${number}; exec sleep 1000`)
    await page.getByRole('button', { name: 'Run command' }).click()
    await expect(card(number).getByRole('log', { name: 'Output' })).toHaveText(`running-${number}`)
  }

  const tabs: Page[] = []
  for (const number of numbers) {
    const tab = await page.context().newPage()
    await tab.goto(`${product.url}/devboxes/${id}${number % 2 ? '/log' : ''}`)
    await isLive(tab)
    if (number % 2)
      await expect(tab.getByRole('log', { name: 'Records' })).toContainText('$ echo running-10; exec sleep 1000')
    tabs.push(tab)
  }
  const eleventh = await page.context().newPage()
  await eleventh.goto(`${product.url}/devboxes`)
  await expect(eleventh.getByRole('row', { name: /busy-box/ })).toBeVisible()

  await page.bringToFront()
  for (const number of numbers) {
    await card(number).getByRole('button', { name: 'Kill command' }).click()
    await expect(card(number).getByText('Exit 137 (SIGKILL)')).toBeVisible()
  }
  for (const [at, tab] of tabs.entries())
    if (at % 2 === 0) await expect(tab.getByRole('log', { name: 'Records' }).getByText('exit 137')).toHaveCount(10)
})

test('a devbox whose processes were killed has failed and resumes with its disk', async ({
  signedIn: page,
  product,
}) => {
  const { devboxes, executions } = product.service
  const { id, isolation } = await devboxes.createAndAwaitRunning({ body: { name: 'killed-box' } })
  test.skip(isolation?.sandbox !== 'bubblewrap', 'Plain processes have no sandbox that could be killed')
  await executions.executeSync({ params: { id }, body: { command: 'echo kept > ~/kept' } })
  await page.goto(`${product.url}/devboxes/${id}`)
  await isLive(page)
  for (const pid of findProcesses({ DEVDECK_DEVBOX_ID: id }))
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Already ended with a process killed before it.
    }
  await expect(page.getByText('This devbox failed')).toBeVisible()
  await expect(page.getByText('The disk is kept until you shut the devbox down.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Shut down devbox' })).toBeEnabled()
  await page.getByRole('button', { name: 'Resume devbox' }).click()
  await expect(page.getByRole('button', { name: 'Suspend devbox' })).toBeEnabled()
  await expect(page.getByText('This devbox failed')).toBeHidden()
  const { stdout } = await executions.executeSync({ params: { id }, body: { command: 'cat ~/kept' } })
  expect(stdout).toBe('kept\n')
  await devboxes.shutdown({ params: { id } })
})

test('a log opens at its end', async ({ signedIn: page, product }) => {
  const { devboxes, executions } = product.service
  const { id } = await devboxes.createAndAwaitRunning({ body: { name: 'talker' } })
  for (const command of ['for i in $(seq 300); do printf "%02000d\\n" $i; done', 'echo the-$((1 + 1))-last'])
    await executions.executeSync({ params: { id }, body: { command } })
  await page.goto(`${product.url}/devboxes/${id}/log`)
  const log = page.getByRole('log')
  await expect(log).toContainText('the-2-last')
  // Lines are measured within a frame or two of becoming visible.
  const left = await log.evaluate(async (box) => {
    for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame)
    return box.scrollHeight - box.scrollTop - box.clientHeight
  })
  expect(left).toBeLessThan(8)
  await log.hover()
  await page.mouse.wheel(0, -3_000)
  await expect(page.getByRole('button', { name: 'Follow the end' })).toBeVisible()
  await log.evaluate(async () => {
    for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame)
  })
  await expect(page.getByRole('button', { name: 'Follow the end' })).toBeVisible()
})

test('a frozen service is shown as late, loses no input and recovers', async ({ page }) => {
  const service = await startServiceAlone()
  const started: { stop(): Promise<unknown> }[] = [service]
  try {
    const product = await startProduct({ DEVDECK_SERVICE_URL: service.url })
    started.unshift(product)
    await signIn(page, { url: product.url, apiKey: service.apiKey })
    const { axons, devboxes, executions } = createClient({
      baseUrl: service.url,
      headers: { authorization: `Bearer ${service.apiKey}` },
    })
    const { id } = await devboxes.createAndAwaitRunning({ body: { name: 'frozen-box' } })
    const axon = await axons.create({ body: { name: 'frozen-axon' } })
    await executions.executeSync({ params: { id }, body: { command: 'echo one >note' } })
    const tabs = [page]
    for (const path of [
      '/',
      '/evictions',
      `/axons/${axon.id}/events`,
      `/devboxes/${id}/log`,
      '/benchmark-jobs',
      `/devboxes/${id}/commands`,
      `/devboxes/${id}/files?path=/home/user&file=note`,
    ]) {
      const tab = await page.context().newPage()
      await tab.goto(product.url + path)
      await isLive(tab)
      tabs.push(tab)
    }
    await page.goto(`${product.url}/devboxes/${id}`)
    await isLive(page)
    const [commands, files] = tabs.slice(-2) as [Page, Page]
    await files.getByRole('button', { name: 'Edit file' }).click()
    process.kill(service.pid, 'SIGSTOP')
    for (const tab of tabs) {
      await expect(tab.getByRole('banner').getByText('Late', { exact: true }), tab.url()).toBeVisible()
      await expect(tab.getByText('Live', { exact: true }), tab.url()).toHaveCount(0)
    }
    // The notice shifts the page, so a click during its appearance would miss.
    await expect(page.getByText('This data is out of date')).toBeVisible()
    const dialog = page.getByRole('dialog', { name: 'Edit devbox' })
    const name = dialog.getByRole('textbox', { name: /^Name/ })
    await page.getByRole('button', { name: 'Edit metadata' }).click()
    await name.fill('typed-while-frozen')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await expect(dialog.getByRole('button', { name: 'Stop waiting' })).toBeVisible()
    await expect(name).toHaveValue('typed-while-frozen')
    // Input typed while the service isn't responding.
    const command = commands.getByRole('textbox', { name: 'Command', exact: true })
    await command.fill('echo sent')
    await command.press('Control+Enter')
    await command.fill('echo typed meanwhile')
    const note = files.getByRole('textbox', { name: 'Text of note' })
    await note.fill('two')
    await note.press('Control+s')
    await note.fill('two and three')
    process.kill(service.pid, 'SIGCONT')
    await expect(commands.getByRole('article', { name: 'Command echo sent' })).toContainText('Exit 0')
    await expect(command).toHaveValue('echo typed meanwhile')
    await expect(files.getByText('File saved')).toBeVisible()
    await expect(note).toHaveText('two and three')
    await expect(files.getByText('Unsaved changes', { exact: true })).toBeVisible()
    for (const tab of tabs) {
      await isLive(tab)
      await expect(tab.getByText('Late', { exact: true }), tab.url()).toHaveCount(0)
    }
    await expect(page.getByRole('heading', { level: 1, name: 'typed-while-frozen' })).toBeVisible()
  } finally {
    process.kill(service.pid, 'SIGCONT')
    for (const each of started) await each.stop()
    rmSync(service.dataDir, { recursive: true, force: true })
  }
})
