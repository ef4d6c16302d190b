import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import webPush from 'web-push'
import { makeDataFolder } from '../data-folder.ts'
import { registry, slot } from '../registry/registry.ts'

interface PushKeys {
  publicKey: string
  privateKey: string
}

/** The key pair that identifies this console to push services. With another one, browsers would have to subscribe again. */
export const pushKeys = slot('pushKeys', () => {
  const { dataDir } = registry().config
  const file = join(dataDir, 'push-keys')
  makeDataFolder(dataDir)
  try {
    // Fails if another console on the folder has written it.
    writeFileSync(file, `${JSON.stringify(webPush.generateVAPIDKeys())}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return JSON.parse(readFileSync(file, 'utf8')) as PushKeys
})

/** Push services require a way to reach the operator. */
export const pushContact = (): string => {
  const origin = registry().config.publicOrigins.find((each) => each.startsWith('https://'))
  return origin ?? 'mailto:devdeck@example.org'
}
