//! Orders and restarts.
use super::{Packing, Rectangle, Shape, Steps};
use super::{order::*, problem::Problem, search::*};
use std::rc::Rc;

pub fn pack(rectangles: &[Rectangle], capacity: i64, steps: &mut Steps) -> Packing {
    let shapes: Vec<Shape> = rectangles.iter().copied().map(Shape::from).collect();
    pack_shapes(&shapes, &[], capacity, steps)
}
pub fn pack_shapes(shapes: &[Shape], base: &[Rectangle], capacity: i64, steps: &mut Steps) -> Packing {
    Packing::OutOfSteps
}
pub fn lab(rectangles: &[Rectangle], capacity: i64, key: &[Property], mode: u32, steps: &mut Steps) -> (bool, u64) {
    let shapes: Vec<Shape> = rectangles.iter().copied().map(Shape::from).collect();
    let problems = Problem::split(&shapes, &[]);
    let before = steps.left;
    for p in &problems {
        let c = Rc::new(Ground::of(p, 1 << 26).unwrap());
        let props = Properties::of(p, |i| c.overlaps(i));
        let order = props.order(key);
        let mut s = Search::new(p, &c, if mode == 1 {Focus::Heaviest} else {Focus::Lowest}, &order, capacity / p.unit).unwrap();
        match s.run(steps) {
            Outcome::Found => {}
            _ => return (false, before - steps.left),
        }
    }
    (true, before - steps.left)
}
