import type { DevboxCreate } from '#lib/contract/devboxes.ts'

interface Preset {
  name: string
  body: DevboxCreate
}

const hour = 3600

/** Devboxes created with one click. */
export const presets: readonly Preset[] = [
  { name: 'Service default', body: {} },
  {
    name: 'Small, 1 hour',
    body: { launch_parameters: { resource_size_request: 'SMALL', keep_alive_time_seconds: hour } },
  },
  {
    name: 'Medium, suspended after 30 idle minutes',
    body: {
      launch_parameters: {
        resource_size_request: 'MEDIUM',
        after_idle: { idle_time_seconds: hour / 2, on_idle: 'suspend' },
      },
    },
  },
  {
    name: 'Large, 8 hours',
    body: { launch_parameters: { resource_size_request: 'LARGE', keep_alive_time_seconds: 8 * hour } },
  },
]
