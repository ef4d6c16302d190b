import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, isLive, test } from './product.ts'

test('a file is uploaded, opened, edited, renamed and deleted by keyboard', async ({ signedIn: page, product }) => {
  const { devboxes, executions, files } = product.service
  const { id } = await devboxes.createAndAwaitRunning({ body: { name: 'files-box' } })
  const run = async (command: string) => (await executions.executeSync({ params: { id }, body: { command } })).stdout
  await run(
    'mkdir -p work/sub && echo "<b>first</b>" >work/sub/page.html; printf "a\\\\0b \\\\377 byte\\n" >work/sub/zero.txt',
  )

  await page.goto(`${product.url}/devboxes/${id}/files?path=work`)
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  const link = (name: string) => row(name).getByRole('link')
  await expect(link('sub')).toBeVisible()
  await isLive(page)
  await link('sub').focus()
  await page.keyboard.press('Enter')
  await expect(link('page.html')).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Text of page.html' })).toContainText('<b>first</b>')
  await page.keyboard.press('Backspace')
  await expect(link('page.html')).toBeFocused()
  // An invalid byte or NUL doesn't hide a text file, but saving it would change it.
  await link('zero.txt').press('Enter')
  await expect(page.getByRole('region', { name: 'Text of zero.txt' })).toContainText('a␀b \ufffd byte')
  await expect(page.getByRole('button', { name: 'Edit file' })).toBeDisabled()
  await page.keyboard.press('Backspace')
  await expect(link('zero.txt')).toBeFocused()
  await page.keyboard.press('Backspace')
  await expect(link('sub')).toBeFocused()

  const dialog = page.getByRole('dialog')
  await page
    .getByLabel('Files to upload')
    .setInputFiles({ name: "it's.txt", mimeType: 'text/plain', buffer: Buffer.from('uploaded\n') })
  await expect(dialog.getByRole('textbox')).toHaveValue(/\/work\/it's\.txt$/)
  await dialog.getByRole('textbox').press('Enter')
  await expect(row("it's.txt")).toContainText('9 B')
  await expect(dialog).toBeHidden()

  const chosen = mkdtempSync(join(tmpdir(), 'devdeck-chosen-'))
  mkdirSync(join(chosen, 'deep'))
  writeFileSync(join(chosen, 'deep/below.txt'), 'below\n')
  await page.getByLabel('Folder to upload').setInputFiles(chosen)
  await expect(dialog.getByRole('textbox')).toHaveValue(new RegExp(`/work/${basename(chosen)}/deep/below.txt$`))
  await dialog.getByRole('textbox').press('Enter')
  await expect(link(basename(chosen))).toBeVisible()
  expect(await run(`cat work/${basename(chosen)}/deep/below.txt; rm -r work/${basename(chosen)}`)).toBe('below\n')
  rmSync(chosen, { recursive: true })

  await link("it's.txt").focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: "Text of it's.txt" })).toContainText('uploaded')
  await page.getByRole('button', { name: 'Edit file' }).press('Enter')
  const text = page.getByRole('textbox', { name: "Text of it's.txt" })
  await expect(text).toBeFocused()
  await text.fill('typed\n')
  await files.write({ params: { id }, body: { file_path: "work/it's.txt", contents: 'meanwhile\n' } })
  await text.press('Control+s')
  await expect(page.getByText('The file changed since you opened it')).toBeVisible()
  await expect(text).toHaveText('typed')
  expect(await run("cat work/it\\'s.txt")).toBe('meanwhile\n')
  await page.getByRole('button', { name: 'Overwrite' }).press('Enter')
  await expect(page.getByRole('region', { name: "Text of it's.txt" })).toContainText('typed')
  expect(await run("cat work/it\\'s.txt")).toBe('typed\n')

  await page.keyboard.press('Backspace')
  await expect(link("it's.txt")).toBeFocused()
  await page.keyboard.press('F2')
  await dialog.getByRole('textbox').fill('renamed.txt')
  await dialog.getByRole('textbox').press('Enter')
  await expect(link('renamed.txt')).toBeFocused()
  await page.keyboard.press('Delete')
  await expect(dialog).toContainText('renamed.txt (6 B) will be deleted')
  await dialog.getByRole('button', { name: 'Delete file' }).press('Enter')
  await expect(link('sub')).toBeFocused()
  await page.keyboard.press('Delete')
  await expect(dialog).toContainText('2 files and 1 folder in total')
  await dialog.getByRole('button', { name: 'Delete folder' }).press('Enter')
  await expect(page.getByRole('heading', { name: 'This folder is empty' })).toBeVisible()
  expect(await run('ls -A work')).toBe('')
})

test('files are walked in a tree, previewed, searched by name and content, and edited at the line found, by keyboard', async ({
  signedIn: page,
  product,
}) => {
  const { devboxes, executions, files } = product.service
  const { id } = await devboxes.createAndAwaitRunning({ body: { name: 'tree-box' } })
  const run = async (command: string) => (await executions.executeSync({ params: { id }, body: { command } })).stdout
  const write = (file_path: string, contents: string) => files.write({ params: { id }, body: { file_path, contents } })
  await run(`mkdir -p app/lib/deep app/many; ln -s .. app/loop; cd app/many; seq 1 12000 | xargs touch`)
  await write('app/lib/deep/main.py', `${'# filler\n'.repeat(300)}def main():\n    return "needle"\n`)
  await write(
    'app/README.md',
    '# Guide\n\nRead [the code](lib/deep/main.py).\n\n<b>raw</b> ![logo](https://example.com/x.png)\n',
  )
  await write('app/scores.csv', 'name,score\n"a, ""b""",1\n')

  await page.goto(`${product.url}/devboxes/${id}/files?path=app`)
  const item = (name: string) => page.getByRole('treeitem', { name, exact: true })
  const link = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('link')
  await expect(link('README.md')).toBeVisible()
  await isLive(page)

  // The tree: type-ahead, arrows, Home and End.
  await expect(item('lib')).toBeVisible()
  await item('app').focus()
  await page.keyboard.type('li')
  await expect(item('lib')).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await expect(item('deep')).toBeVisible()
  await page.keyboard.press('ArrowRight')
  await expect(item('deep')).toBeFocused()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect(item('deep')).toBeHidden()
  await page.keyboard.press('End')
  await expect(item('/')).toBeFocused()
  await page.keyboard.press('Home')
  await expect(item('Home')).toBeFocused()

  // Markdown: no HTML, no image, and links stay in Files.
  await page.keyboard.type('readme')
  await page.keyboard.press('Enter')
  const readme = page.getByRole('region', { name: 'Text of README.md' })
  await expect(readme.getByRole('heading', { name: 'Guide' })).toBeVisible()
  await expect(readme).toContainText('<b>raw</b> Image: logo')
  await expect(readme.getByRole('img')).toHaveCount(0)
  await page.getByRole('button', { name: 'Source' }).press('Enter')
  await expect(readme).toContainText('# Guide')
  await page.getByRole('button', { name: 'Preview' }).press('Enter')
  await readme.getByRole('link', { name: 'the code' }).press('Enter')
  await expect(page.getByRole('region', { name: 'Text of main.py' })).toContainText('# filler')
  await item('scores.csv').focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('cell', { name: 'a, "b"' })).toBeVisible()

  // A name is found below the home folder, then a text. Its line opens, is edited and saved.
  await page.goto(`${product.url}/devboxes/${id}/files`)
  await isLive(page)
  await page.getByRole('button', { name: 'Search', exact: true }).press('Enter')
  await expect(page.getByRole('textbox', { name: /^Name, part/ })).toBeFocused()
  await page.keyboard.type('main.py\n')
  await expect(page.getByText('1 match.')).toBeVisible()
  await page.getByRole('button', { name: 'Contents' }).press('Enter')
  const wanted = page.getByRole('textbox', { name: 'Text to find' })
  await wanted.fill('needle')
  await wanted.press('Enter')
  await expect(page.getByText('1 line in 1 file.')).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('link', { name: /Line 302/ })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/line=302/)
  await expect(page.getByRole('region', { name: 'Text of main.py' })).toContainText('return "needle"')
  await page.getByRole('button', { name: 'Edit file' }).press('Enter')
  const code = page.getByRole('textbox', { name: 'Text of main.py' })
  await code.press('Control+End')
  await page.keyboard.type('main()')
  await code.press('Control+s')
  await expect(page.getByRole('button', { name: 'Edit file' })).toBeVisible()
  expect(await run('tail -n 1 app/lib/deep/main.py')).toBe('main()')
})
