//! The data environment of devices. OpenMP 5.2, section 5.8.
//!
//! [`table`] holds the mapped ranges of one device, [`items`] turns the compiler's arrays into a
//! list of items and calls mappers, [`names`] reads their names, and [`data`] enters, leaves and
//! updates items. [`failure`] says which contents a failed device leaves. Device selection and the
//! consequences of failures belong to [`region`](super::region).

pub mod data;
mod failure;
pub mod items;
pub mod names;
pub mod table;

pub use omp_abi::map_type;
