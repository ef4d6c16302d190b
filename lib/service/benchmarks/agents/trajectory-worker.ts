import { parentPort, workerData } from 'node:worker_threads'
import { usageOfTrajectory } from './usage.ts'

parentPort?.postMessage(usageOfTrajectory(workerData as string))
