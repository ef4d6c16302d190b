import type { Box, BoxSpec } from './box.ts'

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Environment variables that identify a devbox's processes. */
export const markers = ({ serviceId, devboxId }: Pick<BoxSpec, 'serviceId' | 'devboxId'>) => ({
  DEVDECK_SERVICE_ID: serviceId,
  DEVDECK_DEVBOX_ID: devboxId,
})

/** Environment of every devbox process. Never includes the service's own, which holds API keys. */
export const devboxEnvironment = (
  spec: Pick<BoxSpec, 'serviceId' | 'devboxId' | 'hostname'>,
  { home, tmp }: Pick<Box, 'home' | 'tmp'>,
  user: string,
  path = defaultPath,
): Record<string, string> => {
  const own = `${home}/.local/bin`
  return {
    ...markers(spec),
    PATH: path.split(':').includes(own) ? path : `${own}:${path}`,
    HOME: home,
    TMPDIR: tmp,
    USER: user,
    LOGNAME: user,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    DEVDECK_DEVBOX_NAME: spec.hostname,
  }
}
