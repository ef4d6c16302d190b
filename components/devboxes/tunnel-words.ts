import type { tunnelModes } from '#lib/contract/tunnels.ts'

export type TunnelMode = (typeof tunnelModes)[number]

export const tunnelModeWords: Record<TunnelMode, string> = {
  open: 'Open to anyone who knows its address',
  authenticated: 'With a token',
}
