import { has, sharedDocker } from './docker.ts'

/** Whether this machine can start a container engine and make images for it. */
export const hasDocker =
  process.getuid?.() === 0 &&
  ['dockerd', 'busybox', 'mmdebstrap'].every(has) &&
  (await sharedDocker().then(
    () => true,
    (error: Error) => {
      console.error(`The container tests are skipped: ${error.message}`)
      return false
    },
  ))
