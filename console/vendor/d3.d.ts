// The types of d3.js.
export * from "./d3.entry.mjs";
export type { ScaleLinear, ScaleLogarithmic, ScaleTime } from "d3-scale";
export type { Selection } from "d3-selection";
export type { D3ZoomEvent, ZoomBehavior, ZoomTransform } from "d3-zoom";
