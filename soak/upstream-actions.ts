import { expect, type Page } from '@playwright/test'

type Action = (attempt: number) => Promise<void>

/** The main actions. Each starts on its page, so that it can be performed again, and ends once its result is visible. */
export const upstreamActions = (page: Page, url: string, devboxId: string): Record<string, Action> => {
  const main = page.getByRole('main')
  const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog')).last()
  const devbox = `${url}/devboxes/${encodeURIComponent(devboxId)}`
  const button = (name: string | RegExp) => main.getByRole('button', { name, exact: typeof name === 'string' }).first()
  const visible = (text: string | RegExp) => expect(page.getByText(text).first()).toBeVisible({ timeout: 20_000 })
  const submit = async (name: string) => {
    await dialog.getByRole('button', { name, exact: true }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0, { timeout: 20_000 })
  }
  const openFirst = async (list: string, name: RegExp) => {
    await page.goto(url + list)
    await main.getByRole('link', { name }).first().click()
  }
  const openDevbox = async (name: string) => {
    await page.goto(`${url}/devboxes`)
    const link = main.getByRole('link', { name, exact: true })
    const more = main.getByRole('button', { name: /Load more/ })
    await expect(link.or(more).first()).toBeVisible()
    for (let i = 0; i < 5 && !(await link.isVisible()); i++) await page.mouse.wheel(0, 4000)
    await link.first().click()
    await expect(main.getByRole('heading', { name, exact: true })).toBeVisible()
  }
  const openFolder = async () => {
    await page.goto(`${devbox}/files`)
    await expect(button('Upload files')).toBeVisible()
  }

  return {
    'create devbox': async (n) => {
      await page.goto(`${url}/devboxes`)
      await button('Create devbox').click()
      await dialog.getByLabel('Name').first().fill(`made ${n}`)
      await submit('Create devbox')
      await visible(`made ${n}`)
    },
    'run a command': async (n) => {
      await page.goto(`${devbox}/commands`)
      await main.getByRole('textbox').first().fill(`echo ran-$((40 + ${n}))`)
      await button('Run command').click()
      await visible(`ran-${40 + n}`)
    },
    'read the log': async () => {
      await page.goto(`${devbox}/log`)
      await visible(/ran-4\d/)
    },
    'type in a terminal': async (n) => {
      await page.goto(`${devbox}/terminal`)
      const rows = page.locator('.xterm-rows').first()
      await expect(rows).toContainText('hosted$', { timeout: 20_000 })
      await page.locator('.xterm-screen').first().click()
      await page.keyboard.type(`echo pty-$((40 + ${n}))\n`)
      await expect(rows).toContainText(`pty-${40 + n}`, { timeout: 20_000 })
    },
    'upload a file': async (n) => {
      await openFolder()
      await page
        .getByLabel('Files to upload')
        .setInputFiles({ name: `up-${n}.txt`, mimeType: 'text/plain', buffer: Buffer.from('uploaded\n') })
      await dialog.getByRole('textbox').press('Enter')
      await expect(main.getByRole('table').getByRole('link', { name: `up-${n}.txt` })).toBeVisible({ timeout: 20_000 })
    },
    'edit and save a file': async (n) => {
      await openFolder()
      await main.getByRole('link', { name: /^up-/ }).first().click()
      await button('Edit file').click()
      const text = page.getByRole('textbox', { name: /^Text of/ })
      await text.fill(`changed ${n}\n`)
      await text.press('Control+s')
      await expect(page.getByRole('region', { name: /^Text of/ })).toContainText(`changed ${n}`)
      await page.reload()
      await visible(`changed ${n}`)
    },
    'download a file': async () => {
      await openFolder()
      await main.getByRole('link', { name: /^up-/ }).first().click()
      const download = page.waitForEvent('download')
      await main.getByRole('link', { name: 'Download file' }).or(button('Download file')).first().click()
      expect((await download).suggestedFilename()).toMatch(/^up-/)
    },
    'rename a file': async (n) => {
      await openFolder()
      await main.getByRole('table').getByRole('link', { name: /up-/ }).first().focus()
      await page.keyboard.press('F2')
      await dialog.getByRole('textbox').fill(`up-renamed-${n}.txt`)
      await dialog.getByRole('textbox').press('Enter')
      await expect(main.getByRole('table').getByRole('link', { name: `up-renamed-${n}.txt` })).toBeVisible({
        timeout: 20_000,
      })
    },
    'delete a file': async () => {
      await openFolder()
      const link = main.getByRole('table').getByRole('link', { name: /up-renamed-/ })
      await link.first().focus()
      await page.keyboard.press('Delete')
      await submit('Delete file')
      await expect(link).toHaveCount(0)
    },
    'take a snapshot': async (n) => {
      await page.goto(`${devbox}/snapshots`)
      await button('Take snapshot').click()
      await dialog.getByRole('textbox', { name: /^Name/ }).fill(`taken ${n}`)
      await submit('Take snapshot')
      await expect(page.getByRole('row', { name: new RegExp(`taken ${n}`) })).toBeVisible()
    },
    'create a devbox from a snapshot': async () => {
      await page.goto(`${url}/snapshots`)
      await button(/^Create devbox from taken/).click()
      await dialog.getByLabel('Name').first().fill('restored')
      await submit('Create devbox')
      await visible('restored')
    },
    'restart the keep-alive timer': async () => {
      await page.goto(devbox)
      await button('Keep alive').click()
      await visible('Keep-alive timer restarted')
    },
    'suspend and resume a devbox': async () => {
      await openDevbox('worker 7')
      // An attempt before may have suspended it.
      await expect(button('Suspend devbox').or(button('Resume devbox'))).toBeVisible()
      if (await button('Suspend devbox').isVisible()) {
        await button('Suspend devbox').click()
        const confirm = page.getByRole('dialog').getByRole('button', { name: /^Suspend/ })
        await expect(confirm.or(main.getByText(/Suspend(ing|ed)/).first()).first()).toBeVisible()
        if (await confirm.isVisible()) await confirm.click()
      }
      await button('Resume devbox').click()
      await expect(main.getByText('Running', { exact: true }).first()).toBeVisible({ timeout: 20_000 })
    },
    'shut down a devbox': async () => {
      await openDevbox('worker 6')
      await button('Shut down devbox').click()
      await dialog.getByRole('button', { name: /^Shut down/ }).click()
      await expect(main.getByText(/^Shut ?down/i).first()).toBeVisible()
      await visible('This devbox was shut down')
    },
    'enable and remove a tunnel': async () => {
      await openDevbox('worker 5')
      await expect(button('Enable tunnel').or(button('Remove tunnel'))).toBeVisible()
      if (await button('Enable tunnel').isVisible()) await button('Enable tunnel').click()
      await button('Remove tunnel').click()
      await expect(button('Enable tunnel')).toBeVisible({ timeout: 20_000 })
    },
    'build a blueprint': async (n) => {
      await page.goto(`${url}/blueprints`)
      await button('Create blueprint').click()
      await dialog.getByRole('textbox', { name: 'Name' }).fill(`built-${n}`)
      await dialog.getByRole('textbox', { name: /^Setup commands/ }).fill('true')
      await submit('Create blueprint')
      await visible('Step 2/2')
    },
    'create a secret': async (n) => {
      await page.goto(`${url}/settings/secrets`)
      await button('Create secret').click()
      await dialog.getByRole('textbox', { name: 'Name' }).fill(`MADE_${n}`)
      await dialog.getByRole('textbox', { name: 'Value' }).fill('hidden')
      await submit('Create secret')
      await expect(main.getByRole('row', { name: new RegExp(`MADE_${n}`) })).toBeVisible()
    },
    'delete a secret': async () => {
      await page.goto(`${url}/settings/secrets`)
      const made = main.getByRole('button', { name: /^MADE_\d+$/ })
      await expect(made.first()).toBeVisible()
      const before = await made.count()
      await made.first().click()
      await dialog.getByRole('button', { name: 'Delete secret' }).click()
      await page
        .getByRole('dialog', { name: /^Delete MADE/ })
        .getByRole('button', { name: 'Delete secret' })
        .click()
      await expect(made).toHaveCount(before - 1)
    },
    'create a network policy': async (n) => {
      await page.goto(`${url}/settings/network-policies`)
      await button('Create network policy').click()
      await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(`policy ${n}`)
      await dialog.getByRole('textbox', { name: /^Host names/ }).fill('github.com')
      await submit('Create network policy')
      await visible(`policy ${n}`)
    },
    'create an agent': async (n) => {
      await page.goto(`${url}/agents`)
      await button('Create agent').click()
      await dialog.getByRole('textbox', { name: 'Name' }).fill(`agent-${n}`)
      await dialog.getByRole('textbox', { name: 'Package', exact: true }).fill('careful')
      await submit('Create agent')
      await visible(`agent-${n}`)
    },
    'upload an object': async (n) => {
      await page.goto(`${url}/objects`)
      await button('Upload object').click()
      await dialog
        .getByLabel('File')
        .setInputFiles({ name: `notes-${n}.txt`, mimeType: 'text/plain', buffer: Buffer.from('in an object') })
      await submit('Upload object')
      await visible(`notes-${n}`)
    },
    'create an axon': async (n) => {
      await page.goto(`${url}/axons`)
      await button('Create axon').click()
      await dialog.getByRole('textbox', { name: 'Name' }).fill(`axon ${n}`)
      await submit('Create axon')
      await visible(`axon ${n}`)
    },
    'publish an event': async () => {
      await openFirst('/axons', /^axon \d/)
      await page.getByRole('navigation', { name: 'Axon' }).getByRole('link', { name: 'Events' }).click()
      await button('Publish event').click()
      const form = page.getByRole('form', { name: 'Publish an event' })
      await form.getByLabel('Type').fill('build.finished')
      await form.getByLabel('Source').fill('soak')
      await form.getByRole('button', { name: 'Publish event' }).click()
      await visible(/Published as event \d/)
    },
    'query an axon': async () => {
      await openFirst('/axons', /^axon \d/)
      await page.getByRole('navigation', { name: 'Axon' }).getByRole('link', { name: 'SQL' }).click()
      await button(/^Run/).click()
      await expect(main.getByRole('table').first()).toBeVisible()
    },
    'start a job': async (n) => {
      await page.goto(`${url}/benchmark-jobs`)
      await main.getByRole('link', { name: 'after', exact: true }).first().click()
      await button('Clone job').click()
      await dialog.getByRole('textbox', { name: /^Name/ }).fill(`cloned ${n}`)
      await submit('Create job')
      await expect(main.getByRole('heading', { name: `cloned ${n}` })).toBeVisible()
    },
    'cancel a job': async () => {
      await openFirst('/benchmark-jobs', /^cloned/)
      await button('Cancel job').click()
      await submit('Cancel job')
      await expect(main.getByText('Canceled').first()).toBeVisible()
    },
    'cancel a run': async () => {
      await openFirst('/benchmark-runs?state=running', /^manual/)
      await button('Cancel run').click()
      await submit('Cancel run')
      await expect(main.getByText('Canceled').first()).toBeVisible()
    },
    'read the logs of a run': async () => {
      await openFirst('/benchmark-runs', /^manual/)
      await main.getByRole('link', { name: /logs/i }).first().click()
      await expect(main.getByRole('tree', { name: 'Files of the archive' })).toBeVisible()
    },
    'download the logs of a run': async () => {
      await openFirst('/benchmark-runs', /^manual/)
      const download = page.waitForEvent('download')
      await button('Download logs').click()
      expect((await download).suggestedFilename()).toMatch(/\.zip$/)
    },
    'acknowledge an eviction': async () => {
      await page.goto(`${url}/evictions`)
      const acknowledged = main.getByText(/Acknowledged/).first()
      await expect(
        button(/^Acknowledge/)
          .or(acknowledged)
          .first(),
      ).toBeVisible()
      if (!(await acknowledged.isVisible())) await button(/^Acknowledge/).click()
      await expect(acknowledged).toBeVisible()
    },
  }
}
