import { deliveryTimes } from '../channel.ts'

// Imported by a console process before it starts, so that an hour of failures takes seconds.
Object.assign(deliveryTimes, {
  batchMs: 50,
  maxBatchMs: 200,
  timeoutMs: 300,
  retry: { firstMs: 20, maxMs: 300 },
  rejection: { firstMs: 5, maxMs: 20 },
} satisfies Partial<typeof deliveryTimes>)
