/** An isolate that posts the length of the longest text that it parses or decodes in one step, at each new maximum. */
import "../../src/entry/app/threads/serving_thread.ts";
import { StepMeasure } from "../support/step_measure.ts";

const channel = new BroadcastChannel("measuring-isolates");
new StepMeasure((characters) => channel.postMessage(characters));
