import { describe, expect, test } from "vitest";
import { julia } from "./julia.js";
import { mandelbrot } from "./mandelbrot.js";

describe("the Mandelbrot set", () => {
  test.each([
    ["the origin", 0, 0],
    ["the centre of the disc of period 2", -1, 0],
    ["the tip of the antenna, which lies in the set exactly", -2, 0],
    ["i, which falls into a cycle of two", 0, 1],
    ["the centre of a bulb of period 3", -0.122561166876654, 0.744861766619744],
  ])("contains %s", (_name, re, im) => {
    expect(mandelbrot(re, im, 2000)).toBe(Infinity);
  });

  test.each([
    ["beyond the cusp of the cardioid", 0.26, 0],
    ["left of the antenna", -2.001, 0],
    ["1 + i", 1, 1],
    ["just outside the seahorse valley", -0.75, 0.01],
  ])("does not contain a point %s", (_name, re, im) => {
    expect(mandelbrot(re, im, 2000)).toBeLessThan(2000);
  });

  test("escape near -3/4 + εi takes π/ε steps, a known oddity that a wrong iteration would miss", () => {
    const steps = mandelbrot(-0.75, 0.001, 10_000);
    expect(Math.abs(steps * 0.001 - Math.PI)).toBeLessThan(0.02);
  });

  test("is symmetric about the real axis to the last bit, so a mirrored tile is a mirrored image", () => {
    for (let i = 0; i < 500; i++) {
      const re = -2 + (i % 25) * 0.1;
      const im = Math.floor(i / 25) * 0.07;
      expect(mandelbrot(re, -im, 300)).toBe(mandelbrot(re, im, 300));
    }
  });

  test("escape times run on without steps from one count to the next, so colours do not band", () => {
    let last = mandelbrot(2, 0.5, 100);
    for (let re = 2; re > 0.6; re -= 0.0005) {
      const next = mandelbrot(re, 0.5, 100);
      expect(Math.abs(next - last)).toBeLessThan(0.05);
      last = next;
    }
  });
});

describe("Julia sets", () => {
  test("that of c = 0 is the closed unit disc", () => {
    const c = { re: 0, im: 0 };
    expect(julia(0.999, 0, c, 1000)).toBe(Infinity);
    expect(julia(0.6, 0.79, c, 1000)).toBe(Infinity);
    expect(julia(1.01, 0, c, 1000)).toBeLessThan(1000);
    expect(julia(0.8, 0.7, c, 1000)).toBeLessThan(1000);
  });

  test("that of c = -2 is the segment from -2 to 2", () => {
    const c = { re: -2, im: 0 };
    expect(julia(1, 0, c, 1000)).toBe(Infinity);
    expect(julia(1, 0.001, c, 1000)).toBeLessThan(1000);
  });

  test("each is symmetric about the origin to the last bit", () => {
    const c = { re: -0.8, im: 0.156 };
    for (let i = 0; i < 300; i++) {
      const re = Math.cos(i) * 1.4;
      const im = Math.sin(i * 1.7) * 1.1;
      expect(julia(-re, -im, c, 400)).toBe(julia(re, im, c, 400));
    }
  });
});
