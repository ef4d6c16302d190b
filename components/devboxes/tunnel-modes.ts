import type { tunnelModes } from '#lib/contract/tunnels.ts'

export type TunnelMode = (typeof tunnelModes)[number]

export const tunnelModeLabels: Record<TunnelMode, string> = {
  open: 'Anyone with the address',
  authenticated: 'Requires a token',
}
