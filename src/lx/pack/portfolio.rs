//! Orders and restarts.
use super::{Packing, Rectangle, Shape, Steps};
use super::{order::*, problem::Problem, search::*, state::Contacts};

pub fn pack(rectangles: &[Rectangle], capacity: i64, steps: &mut Steps) -> Packing {
    let shapes: Vec<Shape> = rectangles.iter().copied().map(Shape::from).collect();
    pack_shapes(&shapes, &[], capacity, steps)
}
pub fn pack_shapes(shapes: &[Shape], base: &[Rectangle], capacity: i64, steps: &mut Steps) -> Packing {
    Packing::OutOfSteps
}
pub fn lab(rectangles: &[Rectangle], capacity: i64, key: &[Property], steps: &mut Steps) -> (bool, u64) {
    let shapes: Vec<Shape> = rectangles.iter().copied().map(Shape::from).collect();
    let problems = Problem::split(&shapes, &[]).unwrap();
    let before = steps.left;
    for p in &problems {
        let c = Contacts::of(p, 1 << 26).unwrap();
        let props = Properties::of(p, |i| c.of_item(i).len());
        let order = props.order(key);
        match search(p, &c, &order, (capacity / p.unit) as i32, steps) {
            Outcome::Found(_) => {}
            _ => return (false, before - steps.left),
        }
    }
    (true, before - steps.left)
}
